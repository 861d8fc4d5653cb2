"""A loss asks for a person where the change itself, or what it leaves, says that the protection was needed."""

from examples import examples
from rules.example_kinds import changed_files

from cli_guard.model import Finding, Severity
from cli_guard.reviewers.protections import review

HANDLER = "<<path:app/views.py>>\n"


def found(change: str) -> Finding:
    (finding,) = review(changed_files(change)).findings
    return finding


PLAIN = f"""{HANDLER} def save(user, page):
-    check_permission(user, page)
     page.save(user)
"""
ALTERED = PLAIN.replace("\n     page.save", "\n+    count(page)\n     page.save")
WARNED = f"""{HANDLER} def save(user, page):
-    # An attacker could save over the pages of others.
-    check_permission(user, page)
     page.save(user)
"""
SIBLINGS = f"""{HANDLER} def load(user, page):
     check_permission(user, page)
     return page.load()

 def delete(user, page):
     check_permission(user, page)
     page.delete()

 def save(user, page):
-    check_permission(user, page)
     page.save(user)
"""


REACHED = f"""{HANDLER} import subprocess
 from flask import request
 def run():
     name = request.args["name"]
-    validate_name(name)
     subprocess.run("tar xf " + name, shell=True)
"""


def test_a_loss_asks_where_data_from_outside_is_followed_through_the_function() -> None:
    finding = found(REACHED)
    assert finding.rule == "protection-validation"
    assert finding.severity is Severity.HIGH
    assert "data from outside" in finding.message
    harmless = found(REACHED.replace('request.args["name"]', '"a.tar"'))
    assert harmless.severity is Severity.MEDIUM


BARE = f"""{HANDLER} def save(user, name):
-    open("/srv/pages/" + secure_filename(name), "w").write(user.text)
+    open("/srv/pages/" + name, "w").write(user.text)
"""
REFUSED = """<<path:src/merge.js>>
 function merge(target, key, value) {
-  if (key === '__proto__') return;
   target[key] = value;
 }
"""
ANSWERED = f"""{HANDLER} def save(user, page):
-    if page.owner_id != user.id:
-        return forbidden()
     page.save(user)
"""
STILL_ASKED = f"""{HANDLER} def load(user, page):
     if not user.can_read:
         return None
     return page.load()

 def find(user, page):
     if not user.can_read:
         return None
     return page.find()

 def save(user, page):
-    if not user.can_read:
-        return None
     return page.save(user)
"""
ROWS = """<<path:app/menu.rb>>
 Access.map do |map|
   map.permission :read, {:pages => [:index]}
-  map.permission :write, {:pages => [:edit]}
   map.permission :delete, {:pages => [:destroy]}
   map.permission :close, {:pages => [:close]}
 end
"""
OTHERWISE = BARE.replace('+    open("/srv/pages/" + name,', "+    open(page_path(name),")
# By its name, on its receiver, in another language; and near misses of each.
BY_NAME = f"""{HANDLER} def failed(user):
-    shown = user.replace("\\n", "\\\\n").replace("\\r", "\\\\r")
     count(user)
-    log.warning("failed for " + shown)
+    log.warning("failed for " + user)
"""
ON_RECEIVER = """<<path:src/Arguments.cs>>
 class Arguments {
   void Add(string path) {
-    line.Append("-i ").Append(path.Replace("\\"", "\\\\\\"")).Append('"');
+    line.Append("-i ").Append(path).Append('"');
   }
 }
"""
BESIDE_DOT = """<<path:src/Error.php>>
 <?php
 class Error {
   function show() {
-    return '<strong>' . htmlspecialchars($this->message()) . "</strong>";
+    $said = '<strong>' . $this->message() . "</strong>";
+    return $said;
   }
 }
"""
USED_AGAIN = f"""{HANDLER} def show(user, name, page):
-    name = html.escape(name)
     page.count(user)
     page.write(name)
"""
BOUND_ANEW = USED_AGAIN.replace(
    "     page.count", "+    name = name.title()\n     page.count"
)
IN_PLAIN = f"""{HANDLER} def is_same(given, token):
-    return hmac.compare_digest(given, token)
+    return given == token
"""
OF_OTHERS = IN_PLAIN.replace(
    "+    return given == token", "+    return given.count == token"
)
ASKED_IF = REFUSED.replace("return;", "return true;").replace("if (key", "if (deep || key")
TAKEN_OUT = f"""{HANDLER} def move(page, folder):
-    page.move(folder.replace("../", ""))
+    page.enter(page.root, folder)
"""
CALL_REFUSED = """<<path:src/files.go>>
 package files

 func move(src string, dst string) (int, error) {
-    if ok, err := isWithinScope(src); err != nil || !ok {
-        return http.StatusForbidden, nil
-    }
     return rename(src, dst)
 }
"""
CALL_FAILED = CALL_REFUSED.replace("http.StatusForbidden, nil", "0, err")
CONTROLS = """<<path:src/answer.c>>
 int read_path(struct buffer *out, const char *ptr) {
-  if(ISCNTRL(*ptr))
-    return WEIRD;
   return add(out, ptr, 1);
 }
"""
IN_ANOTHER_WAY = CONTROLS.replace(
    "   return add", "+  if(known(*ptr))\n+    return WEIRD;\n   return add"
)
HELPER = f"""{HANDLER}-def validate_name(name):
-    if not name or ".." in name.split("/"):
-        raise ValueError("wrong name")
-    return name
-
 class Module:
     def remove(self, name):
-        validate_name(name)
         self.tree.remove(name)
"""
HELPER_STAYS = (
    HELPER.replace("-def", " def").replace("-    ", "     ").replace("-\n", " \n")
)
HELPER_STAYS = HELPER_STAYS.replace("         validate_name", "-        validate_name")
HELPER_WARNS = """<<path:src/access.js>>
-exports.normalizePermission = (level) => {
-  if (level === 'create') return level;
-  log.warn(`unknown level ${level}, denying access`);
-  return false;
-};
-
 exports.enter = (level, user) => {
-  level = exports.normalizePermission(level);
   grant(user);
 };
"""
HELPER_SAYS = HELPER_WARNS.replace(", denying access", " ")


@examples(
    ("change", "reason"),
    (
        (BARE, "without it"),
        (REFUSED, "it refused `__proto__`"),
        (ANSWERED, "it refused who was not allowed"),
        (STILL_ASKED, "2 other conditions"),
        (PLAIN, "nothing else went there"),
        (ALTERED, ""),
        (ROWS, ""),
        (OTHERWISE, ""),
        (BY_NAME, "as it comes now"),
        (ON_RECEIVER, "without it"),
        (BESIDE_DOT, "without it"),
        (USED_AGAIN, "as it comes now"),
        (BOUND_ANEW, ""),
        (IN_PLAIN, "takes the place of"),
        (OF_OTHERS, ""),
        (ASKED_IF, "it refused `__proto__`"),
        (TAKEN_OUT, "it refused"),
        (CALL_REFUSED, "it refused who was not allowed"),
        (CALL_FAILED, ""),
        (IN_ANOTHER_WAY, ""),
        (CONTROLS, "it refused `ISCNTRL`"),
        (HELPER, "it refused"),
        (HELPER_STAYS, ""),
        (HELPER_WARNS, "speaks of an attack"),
        (HELPER_SAYS, ""),
    ),
)
def test_a_loss_asks_where_the_change_itself_shows_that_nothing_took_its_place(
    change: str, reason: str
) -> None:
    finding = found(change)
    assert finding.severity is (Severity.HIGH if reason else Severity.MEDIUM)
    assert reason in finding.message


@examples(
    ("change", "severity"),
    (
        (ALTERED, Severity.MEDIUM),
        (PLAIN, Severity.HIGH),
        (WARNED, Severity.HIGH),
        (SIBLINGS, Severity.HIGH),
    ),
)
def test_a_loss_asks_where_a_warning_went_along_or_others_still_check(
    change: str, severity: Severity
) -> None:
    finding = found(change)
    assert finding.rule == "protection-access"
    assert finding.severity is severity
    assert ("other places" in finding.message) == (change is SIBLINGS)


SERVER = """<<path:app.js>>
 app.use(compression());
-app.use(helmet());
-app.use(requireRole('admin'));
 app.get('/users', (req, res) => res.json(listUsers()));
"""
ROLES = """<<path:app/views.py>>
 def save(user, page):
-    check_permission(user, page)
-    check_permission(user, page.parent)
     page.save(user)
"""


@examples(
    ("text", "rules"),
    [
        (SERVER, ["protection-access", "protection-browser"]),
        (
            SERVER.replace("helmet());\n-app.use(", "helmet(), "),
            ["protection-access", "protection-browser"],
        ),
        (ROLES, ["protection-access"]),
        (
            PLAIN.replace(
                "page)\n     ", "page)\n+    # check_permission(user, page)\n     "
            ),
            ["protection-access"],
        ),
        (
            PLAIN.replace(
                "page)\n     ", "page)\n+    check_permission(user, page)  # all\n     "
            ),
            [],
        ),
        (SERVER.replace("-app.use(helmet());\n", ""), ["protection-access"]),
    ],
)
def test_each_protection_that_goes_at_a_place_is_shown(text: str, rules: list[str]) -> None:
    assert sorted(each.rule for each in review(changed_files(text)).findings) == rules
