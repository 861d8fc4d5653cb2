"""Who may call a route: what runs before it, whose rows it finds, and who is let by; each with its near miss."""

from examples import examples
from repositories import Repo
from rules.example_kinds import changed_files

from cli_guard.model import Severity
from cli_guard.review.request import Range
from cli_guard.reviewers.protections import review

ROUTES = """<<path:src/server.js>>
 const app = express();
-app.use("/api/admin", requireAuth);
 app.use("/api/admin", admin);
-app.delete("/api/orders/:id", requireAuth, remove);
+app.delete("/api/orders/:id", remove);
"""
JOINED = """<<path:src/server.js>>
 const app = express();
-app.use("/api/admin", requireAuth);
-app.use("/api/admin", admin);
+app.use("/api/admin", requireAuth, admin);
"""
AUTH = """<<path:src/auth.js>>
 const jwt = require("jsonwebtoken");
 function requireAuth(req, res, next) {
+  LEFT
   const token = req.headers.authorization;
   if (!token) {
     return res.status(401).end();
   }
   try {
     req.user = jwt.verify(token, SECRET);
     next();
   } catch (error) {
     res.status(401).end();
   }
 }
"""
WAY = "  LEFT"
ANSWER = "     res.status(401).end();\n   }\n }"
CAUGHT = "-    res.status(401).end();\n+    next();\n   }\n }"
VERIFIED = "     req.user = jwt.verify(token, SECRET);"
DECODED = "-    req.user = jwt.verify(token, SECRET);\n+    req.user = jwt.decode(token);"
HOOK = """<<path:app/hooks.py>>
 @app.post("/hook")
 def hook():
     expected = hmac.new(KEY, request.data, "sha256").hexdigest()
-    if not hmac.compare_digest(expected, request.headers["X-Sum"]):
-        abort(400)
     store(request.json)
"""
INVOICE = """<<path:app/views.py>>
 def invoice(number):
     found = load(number)
-    if found.owner_id != current.id:
-        abort(404)
     return found.text
"""
SHORT = """<<path:app/views.py>>
 def admin():
-    if not session.get("is_admin"):
-        abort(403)
     return page()
"""
EXCEPTION = """<<path:app/views.py>>
 def admin():
-    if not session.get("is_admin"):
+    if not session.get("is_admin") and not app.debug:
         abort(403)
     return page()
"""
QUERY = """<<path:src/orders.js>>
 async function list(db, user) {
-  return db.query("SELECT * FROM orders WHERE user_id = $1", [user.id]);
+  return db.query("SELECT * FROM orders");
 }
"""


def left_by(branch: str) -> str:
    return AUTH.replace(WAY, f"  {branch}")


WIDER = AUTH.replace(
    "+  LEFT",
    '-  if (req.method === "OPTIONS") return next();\n'
    '+  if (req.method === "OPTIONS" || req.headers["x-debug"]) return next();',
)
PLAIN = AUTH.replace("+  LEFT\n", "")


@examples(
    ("change", "findings"),
    (
        (ROUTES, [("protection-access", 2, "HIGH"), ("protection-access", 3, "HIGH")]),
        (JOINED, []),
        (
            left_by('if (req.headers["x-debug"]) return next();'),
            [("protection-weaker-condition", 3, "HIGH")],
        ),
        (
            left_by('if (req.method === "OPTIONS") return next();'),
            [("protection-weaker-condition", 3, "MEDIUM")],
        ),
        (WIDER, [("protection-weaker-condition", 3, "HIGH")]),
        (WIDER.replace(' || req.headers["x-debug"]', ' || req.path === "/"'), []),
        (left_by("if (!req.headers.host) return res.status(400).end();"), []),
        (
            left_by('if (req.headers["x-debug"]) return next();').replace("401", "400"),
            [],
        ),
        (
            PLAIN.replace(ANSWER, CAUGHT),
            [("protection-weaker-condition", 11, "HIGH")],
        ),
        (
            PLAIN.replace(VERIFIED, DECODED),
            [("protection-weaker-member", 8, "HIGH")],
        ),
        (HOOK, [("protection-signature", 4, "HIGH")]),
        (INVOICE, [("protection-access", 3, "HIGH")]),
        (
            INVOICE.replace("found.owner_id != current.id", "not found.title.strip()"),
            [("protection-validation", 3, "MEDIUM")],
        ),
        (SHORT, [("protection-access", 2, "HIGH")]),
        (EXCEPTION, [("protection-weaker-condition", 2, "HIGH")]),
        (
            EXCEPTION.replace("app.debug", "is_owner(page)"),
            [("protection-weaker-condition", 2, "MEDIUM")],
        ),
        (QUERY, [("protection-weaker-member", 2, "HIGH")]),
        (QUERY.replace('orders");', 'orders WHERE team_id = $1", [user.team]);'), []),
        (QUERY.replace('orders");', 'orders WHERE id = $1", [user.order]);'), []),
    ),
)
def test_who_may_is_asked_as_before(
    change: str, findings: list[tuple[str, int, str]]
) -> None:
    found = review(changed_files(change)).findings
    expected = [(rule, line, Severity[name]) for rule, line, name in findings]
    assert [(each.rule, each.line, each.severity) for each in found] == expected


def test_who_is_let_by_in_one_commit_and_not_at_the_tip_is_silent(repo: Repo) -> None:
    path = "src/auth.js"
    lines = [line[1:] for line in PLAIN.split("\n")[1:]]
    let_by = [*lines[:2], '  if (req.headers["x-debug"]) return next();', *lines[2:]]
    base = repo.commit("Ask for a token", {path: "\n".join(lines)})
    repo.commit("Debug", {path: "\n".join(let_by)})
    rules = [each.finding.rule for each in repo.look(Range(base, "HEAD")).sort_findings()]
    assert "protection-weaker-condition" in rules
    repo.commit("Debug no more", {path: "\n".join(lines)})
    repo.commit("Describe", {"README.md": "A server.\n"})
    assert not repo.look(Range(base, "HEAD")).sort_findings()
