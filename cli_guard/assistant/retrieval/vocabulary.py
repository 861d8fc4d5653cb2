"""The words of questions about code: which carry nothing, which carry little, which are forms of another one."""

# Words that say that something is asked, not what.
STOP = frozenset(
    "a an and any are as at be been being by can could did do does doing done for from get gets getting give goes"
    " had has have having how i if in into is it its just let like live lives located location me must my need not of"
    " off on one or our out over please show so some such tell than that the their them then there these they this"
    " those to under up us use used uses using want was we were what when where whether which while who why will"
    " with within would you your find does happen happens happening take takes taken place come comes actually"
    " too exactly responsible repository repo codebase should look looks see"
    " inside during before after between each every all about also only both other another same different way know"
    " via per upon onto again still own itself themselves somewhere ever much many most more less"
    " define defined defines definition definitions defining declare declared declares declaration implement"
    " implemented implements implementation implementing set sets setting-up done done-by"
    " part point main thing things stuff something anything".split()
)
# Words that any code uses, with all their forms: they help, and they are not what is looked for.
WEAK = (
    "actual add allow app application apply automatically bad build calculate call change check choose class"
    " close code collect compute construct contain convert correctly count create current data decide"
    " default detect determine display draw drop enforce exist expose fetch file first function generate given"
    " global good handle hold initialize internal invoke keep last library limit line load logic looked made"
    " maintain make manage maximum measure mechanism method minimum module name new number object open"
    " package perform pick possible prepare print process produce project properly provide put raise read receive"
    " received register remember remembered remove replace report return run save say"
    " select send setup show size source specify split start store support tells time told track transform treat"
    " trigger triggered turn type user value variable work wrap write"
).split()
# Forms that the rules of `words.stem` do not bring together: the stem, then what stands for it.
FORMS = (
    "config configuration configure conf cfg, init initialize initialise, arg argument argv, param parameter,"
    " env environment environ, dir directory, db database, max maximum, min minimum, tmp temporary temp, messag msg,"
    " regex regexp, expr expression expressions, exec execute, async asynchronous, sync synchronous synchronize,"
    " serializ serialise, spec specification, choos chose chosen choice, send sent, writ written wrote, build built,"
    " keep kept, catch caught, throw thrown, break broken, show shown, find found, bind bound, hold held, hid hidden,"
    " draw drawn, index indices, compar comparison, resolv resolution, id ids identifier, url uri uris,"
    " depend dependency dependent dep, attr attribute, context ctx, cooki cookies, sign signature, color colour,"
    " lex lexer, stmt statement statements, auth authentication authenticate authorize, fail failure,"
    " command cli commandline argparse optparse, regist registration registry"
).split(", ")
