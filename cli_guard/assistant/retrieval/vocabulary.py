"""The words of questions about code: which carry nothing, which mean the same, which files they point to. Data."""

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
    " part line lines point main thing things stuff something anything".split()
)
# Words that name a kind of place, or what any function does: they help, and they are not what is looked for.
WEAK = frozenset(
    "code source file files module modules function functions method methods class classes variable variables"
    " project package library app application logic handle handled handles handling make makes made do decide decides"
    " decided determine determines determined determining perform performs performed run runs compute computed"
    " computes calculate calculated work works working value values"
    " call called calls create created creates creation contain contains hold holds say says apply applied applies"
    " choose chooses chosen pick picks picked allow allowed allows support supported supports turn turns turned"
    " convert converts converted provide provided given specify specified keep kept support possible"
    " process processed processes processing name names named object objects data type types new first last"
    " put puts add added adds adding global internal main logic mechanism"
    " check checks checked checking detect detects detected change changes changed changing".split()
)
# What is done with a thing: code says it in other words as often as not, so it helps, and does not decide.
SOFT = frozenset(
    "build builds built building generate generated generates generating generation load loads loaded loading"
    " read reads reading written write writes writing store stores stored save saves saved sent send sends sending"
    " receive receives received start starts started open opens opened close closes closed register registers"
    " registered registration remember remembers remembered treat treated treats manage managed manages draw drawn"
    " draws show shown shows display displayed displays looked return returned returns raise raised raises"
    " replace replaced replaces remove removed removes collect collected collects fetch fetched fetches turn turned"
    " prepare prepared prepares use transform transformed split wrap wrapped measure measured collect drop dropped"
    " initialize initialized construct constructed select selected selects choose limit limited print printed prints"
    " exist exists maintain maintained keep track tracked tracks count counted own determine report reported"
    " apply tell tells told enforce enforced trigger triggered produce produced expose exposed invoke invoked"
    " configure configured setup automatically properly correctly currently actual actually default defaults"
    " number numbers user users time times size bad good maximum minimum".split()
)
# What a question asks for by kind.
KINDS = {
    "function": "function",
    "functions": "function",
    "method": "function",
    "methods": "function",
    "class": "class",
    "classes": "class",
    "constant": "constant",
    "default": "constant",
    "defaults": "constant",
    "setting": "constant",
    "option": "constant",
    **dict.fromkeys(
        ("variable", "constants", "settings", "options", "limit", "limits", "size", "maximum"), "constant"
    ),
    **dict.fromkeys(("minimum", "number", "version", "configuration", "values"), "constant"),
    **dict.fromkeys(("environment", "codes"), "constant"),
}
# Irregular forms, and words whose endings would lead astray.
IRREGULAR = {
    **dict.fromkeys(("configuration", "configurations", "configure", "configured", "configures"), "config"),
    **dict.fromkeys(("configuring", "configs", "config", "conf", "cfg"), "config"),
    **dict.fromkeys(("authentication", "authenticate", "authenticated", "authenticates"), "authent"),
    **dict.fromkeys(("authenticating", "authenticator"), "authent"),
    **dict.fromkeys(("authorization", "authorize", "authorized", "authorizes", "authorizing"), "authoriz"),
    **dict.fromkeys(
        ("initialize", "initialise", "initialization", "init", "initialized", "initializes"), "init"
    ),
    **dict.fromkeys(("initial", "initially"), "initial"),
    **dict.fromkeys(("argument", "arguments", "args", "arg", "argv"), "arg"),
    **dict.fromkeys(("parameter", "parameters", "params", "param"), "param"),
    **dict.fromkeys(("environment", "environments", "env", "environ"), "env"),
    **dict.fromkeys(("directory", "directories", "dir", "dirs"), "dir"),
    **dict.fromkeys(("database", "databases", "db"), "db"),
    **dict.fromkeys(("maximum", "max"), "max"),
    **dict.fromkeys(("minimum", "min"), "min"),
    **dict.fromkeys(("temporary", "temp", "tmp"), "tmp"),
    **dict.fromkeys(("message", "messages", "msg"), "message"),
    **dict.fromkeys(("expression", "expressions", "expr"), "expr"),
    **dict.fromkeys(("regex", "regexp", "regexes"), "regex"),
    **dict.fromkeys(("executable", "executables"), "executabl"),
    **dict.fromkeys(("execute", "executes", "executed", "executing", "execution", "exec"), "exec"),
    **dict.fromkeys(("serialize", "serialise", "serialization", "serializer", "serializers"), "serializ"),
    **dict.fromkeys(("serialized", "serializes", "serializing"), "serializ"),
    **dict.fromkeys(("deserialize", "deserialization", "deserializer", "deserialized"), "deserializ"),
    **dict.fromkeys(("asynchronous", "asynchronously", "async"), "async"),
    **dict.fromkeys(("synchronous", "sync", "synchronize"), "sync"),
    **dict.fromkeys(("specification", "spec", "specs"), "spec"),
    **dict.fromkeys(("delimiter", "delimiters"), "delimit"),
    **dict.fromkeys(("chose", "chosen", "choose", "chooses", "choosing", "choice", "choices"), "choice"),
    **dict.fromkeys(("sent", "send", "sends", "sending", "sender"), "send"),
    **dict.fromkeys(("read", "reads", "reading", "reader", "readers"), "read"),
    **dict.fromkeys(("written", "write", "writes", "writing", "writer", "wrote"), "writ"),
    **dict.fromkeys(("built", "build", "builds", "building", "builder"), "build"),
    **dict.fromkeys(("kept", "keep", "keeps", "keeping"), "keep"),
    **dict.fromkeys(("caught", "catch", "catches", "catching"), "catch"),
    **dict.fromkeys(("thrown", "throw", "throws", "throwing"), "throw"),
    **dict.fromkeys(("broken", "break", "breaks"), "break"),
    **dict.fromkeys(("shown", "show", "shows", "showing"), "show"),
    **dict.fromkeys(("found", "find", "finds", "finding", "finder"), "find"),
    **dict.fromkeys(("bound", "bind", "binds", "binding", "bindings"), "bind"),
    **dict.fromkeys(("held", "hold", "holds"), "hold"),
    **dict.fromkeys(("hidden", "hide", "hides"), "hid"),
    **dict.fromkeys(("drawn", "draw", "draws"), "draw"),
    **dict.fromkeys(("indices", "index", "indexes", "indexed", "indexing"), "index"),
    **dict.fromkeys(("matches", "match", "matching", "matched", "matcher"), "match"),
    **dict.fromkeys(("logged", "logging", "log", "logs", "logger", "loggers"), "log"),
    **dict.fromkeys(("hashed", "hash", "hashes", "hashing"), "hash"),
    **dict.fromkeys(("deletion", "delete", "deleted", "deletes", "deleting"), "delet"),
    **dict.fromkeys(("comparison", "compare", "compared", "comparing", "comparator"), "compar"),
    **dict.fromkeys(("resolution", "resolve", "resolved", "resolver", "resolves", "resolving"), "resolv"),
    **dict.fromkeys(("substitution", "substitute"), "substitut"),
    **dict.fromkeys(("decoration", "decorator", "decorators", "decorated", "decorate"), "decorat"),
    **dict.fromkeys(
        ("iterate", "iterator", "iterators", "iterable", "iteration", "iterates", "iter"), "iter"
    ),
    **dict.fromkeys(("mapping", "mappings", "map", "maps", "mapped"), "map"),
    **dict.fromkeys(("user", "users"), "user"),
    **dict.fromkeys(("id", "ids", "identifier", "identifiers"), "id"),
    **dict.fromkeys(("url", "urls", "uri", "uris"), "url"),
    **dict.fromkeys(("compilation", "compile", "compiled", "compiler", "compiles", "compiling"), "compil"),
    **dict.fromkeys(
        ("dependency", "dependencies", "dependent", "dependents", "depends", "deps", "dep"), "depend"
    ),
    **dict.fromkeys(("attr", "attrs", "attribute", "attributes"), "attr"),
    **dict.fromkeys(("ctx", "context", "contexts"), "context"),
    **dict.fromkeys(("cookie", "cookies"), "cookie"),
    **dict.fromkeys(("lex", "lexed", "lexer", "lexers", "lexing", "lexes"), "lex"),
    **dict.fromkeys(("embed", "embeds", "embedded", "embedding"), "embed"),
    **dict.fromkeys(("template", "templates", "templating", "templated"), "template"),
    **dict.fromkeys(("fixture", "fixtures"), "fixture"),
    **dict.fromkeys(("signature", "signatures", "sign", "signed", "signing", "signer", "signs"), "sign"),
    **dict.fromkeys(("quote", "quotes", "quoted", "quoting"), "quot"),
    **dict.fromkeys(("stmt", "stmts", "statement", "statements"), "stmt"),
}
# Words that end like a form of another one, and are not.
WHOLE = frozenset(
    "header number parameter buffer filter counter pointer folder register render layer letter order other paper"
    " error color vector factor mirror cursor editor author version session option action section position"
    " condition function exception permission region mission ration station nation question fraction portion"
    " element segment comment document moment payment fragment increment environment query history memory summary"
    " category library binary entry proxy copy empty any body key display array proxy factory property"
    " cluster master character chapter server timer paging string thing ring king bring spring during morning"
    " status bus class process address access alias basis axis analysis this pass less dress express cross canvas"
    " feature measure structure texture picture future culture procedure failure closure secure"
    " table variable enable disable native active primitive relative archive drive live give five"
    " state date update private candidate duplicate gate rate certificate coordinate"
    " integer layer trigger ledger badge owner corner banner inner outer upper lower under".split()
)
# Named products and protocols: a repository that never names one has nothing of it, whatever else it has.
PROPER = frozenset(
    "kafka rabbitmq redis memcached postgres postgresql mysql mariadb sqlite mongodb mongo cassandra dynamodb couchdb"
    " elasticsearch opensearch solr neo4j clickhouse snowflake bigquery oracle graphql grpc protobuf thrift soap jwt"
    " oauth oauth2 saml ldap kerberos openid stripe paypal braintree twilio sendgrid slack discord telegram aws s3 ec2"
    " lambda gcp azure kubernetes k8s helm docker podman terraform ansible jenkins nginx apache haproxy traefik celery"
    " airflow spark hadoop react vue angular svelte django flask fastapi rails spring express webpack vite babel jest"
    " pytest junit selenium playwright cypress cuda gpu opengl vulkan tensorflow pytorch numpy pandas openai llm"
    " bluetooth mqtt smtp imap ftp sftp ssh websocket webrtc pdf csv xml yaml toml excel blockchain bitcoin ethereum"
    " sentry datadog prometheus grafana opentelemetry zookeeper consul etcd vault bcrypt argon2 scrypt csrf"
    " captcha".split()
)
# Words that are written with capitals inside, and are one word all the same.
ONE_WORD = PROPER | frozenset(
    "github gitlab bitbucket javascript typescript websockets macos ios pypi npm openssl ipv4 ipv6 utf8 utf16 base64"
    " sha1 sha256 sha512 md5 http2 http3 webdav youtube linkedin powershell postgres devtools wasm webassembly xhtml"
    " websocket filesystem stdin stdout stderr unix linux windows latex markdown restructuredtext".split()
)
