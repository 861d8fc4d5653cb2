"""A protection that a change takes away is shown with both states; one that moves, or goes with its feature, is not."""

import subprocess
import sys
from dataclasses import replace

from examples import examples, near_misses
from repositories import Repo
from rules.example_kinds import changed_files

from cli_guard.model import ChangeSet, Finding, Status
from cli_guard.reviewers.protections import review

HANDLER = "<<path:app/views.py>>\n"
MOVES = (
    # To another file, as another member of the family, under another name of the same words.
    f"""{HANDLER} def save(user, page):
-    check_permission(user, page)
     page.save(user)
<<path:app/gate.py>>
+def enter(user, page):
+    check_permission(user, page)
+    return save(user, page)
""",
    f"""{HANDLER}-def _is_within(root, name):
-    return name.startswith(root + "/")
-
 def read(root, name):
-    if not _is_within(root, name):
+    if not is_within(root, name):
         raise ValueError(name)
     return open(name)
""",
    f"""{HANDLER}-@login_required
+@permission_required("save")
 def save(user, page):
     page.save(user)
""",
    # With what it forked.
    f"""{HANDLER}-def save(user, page):
-    check_permission(user, page)
-    page.save(user)
-
 def other(user, page):
     return page
""",
    f"""{HANDLER} def save(user, page):
-    if user.is_admin:
-        page.publish(user)
     page.save(user)
""",
    # In tests, examples and files that a program wrote.
    """<<path:tests/test_views.py>>
 def test_save(user, page):
-    check_permission(user, page)
     page.save(user)
""",
    """<<path:examples/views.py>>
 def save(user, page):
-    check_permission(user, page)
     page.save(user)
""",
    """<<path:app/views_pb2.py>>
 def save(user, page):
-    check_permission(user, page)
     page.save(user)
""",
    # Still asked: with another answer, in another style, of a variable, as one case of several, by another guard.
    f"""{HANDLER} def save(user, page):
     if not user.level:
-        raise Forbidden("not allowed")
+        raise Refused(page)
     page.save(user)
""",
    """<<path:src/Pages.java>>
 class Pages {
   void save(Page page) {
-    if (!context.getUser().isAdmin()) { throw new Refused(); }
+    if (!user.isAdmin()) { throw new Refused(); }
     page.save();
   }
 }
""",
    """<<path:record.go>>
 package record

 func read(kind Kind) error {
-    if kind != Samples {
-        return errors.New("invalid kind of record")
-    }
-    return samples()
+    switch kind {
+    case Samples:
+        return samples()
+    default:
+        return errors.New("invalid kind of record")
+    }
 }
""",
    f"""{HANDLER} def save(path, page):
-    if not path.validated:
+    if path.state != IDLE:
         return None
     page.save(path)
""",
    # No guard of anything, though a word says so.
    f"""{HANDLER} def role_of(user):
     role = user.find()
-    if role is None:
-        return None
     return role.name
""",
    f"""{HANDLER} def save(page):
-    if VERSION < 7:
-        # Before that no permission could be read.
-        return True
     return page.save()
""",
    """<<path:src/send.js>>
 function send(socket, text) {
-  if (socket.plain) return socket.write(text + '\\r\\n');
   socket.write(text);
 }
""",
    """<<path:src/Close.java>>
 class Close {
   void close(Channel channel) {
-    channel.unsafe().close();
     channel.closeWithError();
   }
 }
""",
    """<<path:main.tf>>
 resource "aws_iam_role" "it" {
-  count = var.admin_permissions && var.create ? 1 : 0
+  count = 1
 }
""",
    """<<path:src/step.c>>
 int step(struct reader *r) {
   // Not allowed in the first packet.
-  // Gaps are not allowed.
-  if (r->next(r, &r->owner) < 0)
-    return -1;
   return r->size;
 }
""",
    # With the only place where the value was used.
    f"""{HANDLER} def show(user, page):
-    name = html.escape(user.name)
-    page.write(name)
     page.save(user)
""",
    # A function that nobody called any longer.
    f"""{HANDLER}-def escape_row(text):
-    return text.replace("-", " ")
-
 def save(user, page):
     page.save(user)
""",
    # A right that goes from a list of rights is denied, and so is one of several ways in.
    """<<path:.github/workflows/a.yml>>
 permissions:
-  contents: read
   id-token: write
""",
    # With the class around it, whose name is something else's now.
    """<<path:app/tasks.py>>
-class Task:
-    def result(self):
-        self._check_done()
-        return self._value
-
-    def _check_done(self):
-        if not self._done:
-            raise Invalid("no valid result")
-
+Task = asyncio.Task
 def show(task):
     return task.result()
""",
    # Asked in a later branch.
    """<<path:src/log.lua>>
 local function is_valid_value(v, visited)
-  if visited[v] then
+  if not visited then
+    visited = {}
+  elseif visited[v] then
     return false
   end
   return walk(v, visited)
 end
""",
    # No check: it left the check early, asked whether there is a value, or what another server had answered.
    """<<path:src/Check.kt>>
 class Check {
   fun runChecks(names: List<String>) {
-    if (names.isEmpty() && !dump.get()) {
-      logger.info("No names for validation. Skipping.")
-      return
-    }
     compare(names)
   }
 }
""",
    """<<path:src/People.cs>>
 class People {
   void Add(Person old, Person person) {
-    if (string.IsNullOrEmpty(old.Role) && !string.IsNullOrEmpty(person.Role)) {
+    if (old.Name == person.Name) {
       old.Role = person.Role;
     }
   }
 }
""",
    """<<path:src/log.lua>>
 local function build(ctx)
-  if ctx.authenticated_credential ~= nil then
+  local credential = ctx.authenticated_credential
+  if credential ~= nil then
     return { id = ctx.authenticated_credential.id }
   end
 end
""",
    """<<path:src/fetch.ts>>
 async function get(url: string) {
   const response = await fetch(url);
-  if (response.status === 401) {
+  if (response.status === 401 && response.headers.has('x-login')) {
     location.reload();
     return;
   }
   return response;
 }
""",
    # In a function that is called there.
    f"""{HANDLER} import shlex
 def make(shell, words):
-    words = [shlex.quote(word) for word in words]
-    return " ".join(words)
+    return shell.put_together(words)
 def copy(name):
-    return "cp " + shlex.quote(name)
+    return put_together(["cp", name])
+def put_together(words):
+    return shlex.join(words)
""",
    # As strong as before: fetched in another way, with an argument beside its name, by another mark for "unset".
    f"""{HANDLER} def save(model, user, page):
-    if not permission_policy.allows(user, page):
+    if not policies.get_by_type(model).allows(user, page):
         raise PermissionDenied
     page.save(user)
""",
    """<<path:src/Faq.php>>
 <?php
 class Faq {
   function save($language) {
-    $this->userHasPermissionForLanguage(Right::APPROVE, $language);
-    $this->userHasPermission(Right::APPROVE);
+    $this->userHasPermissionForLanguage(Right::PUBLISH, $language);
+    $this->userHasPermission(Right::PUBLISH);
   }
 }
""",
    # Stricter than before.
    f"""{HANDLER} def save(user, page):
-    if not user.is_admin:
+    if not user.is_admin or page.locked:
         raise PermissionError
     page.save(user)
""",
)


@near_misses("change", MOVES)
def test_what_moves_or_goes_with_its_feature_is_silent(change: str) -> None:
    assert review(changed_files(change)).findings == ()


GUARDS = (
    f"""{HANDLER} def save(user, page):
-    if not user.level:
-        raise Forbidden("not allowed")
     page.save(user)
""",
    """<<path:src/Pages.java>>
 class Pages {
   void save(Page page) {
-    if (!context.getUser().isAdmin()) { throw new Refused(); }
     page.save(context);
   }
 }
""",
    """<<path:record.go>>
 package record

 func read(kind Kind) error {
-    if kind != Samples {
-        return errors.New("invalid kind of record")
-    }
     return samples(kind)
 }
""",
    f"""{HANDLER} def save(path, page):
-    if not path.validated:
-        return None
     page.save(path)
""",
    f"""{HANDLER} def role_of(user):
     role = user.find()
-    if role != user.owner:
-        return None
     return role.name
""",
    """<<path:src/send.js>>
 function send(socket, text) {
-  if (text.includes('\\r')) return;
   socket.write(text);
 }
""",
    f"""{HANDLER} def show(user, name, page):
-    name = html.escape(name)
     page.write(name)
""",
    f"""{HANDLER} def show(user, page):
-    name = html.escape(user.name)
-    page.write(name)
+    page.write(user.name)
""",
    # A right that may write now, a list of rights that went, another way in, a class that stays.
    """<<path:.github/workflows/a.yml>>
 permissions:
-  contents: read
+  contents: write
   id-token: write
""",
    """<<path:.github/workflows/a.yml>>
 on: push
-permissions:
-  contents: read
 jobs:
   build:
     runs-on: ubuntu-latest
""",
    """<<path:app/tasks.py>>
 class Task:
     def result(self):
-        self._check_done()
         return self._value
-
-    def _check_done(self):
-        if not self._done:
-            raise Invalid("no valid result")
""",
    """<<path:src/log.lua>>
 local function is_valid_value(v, visited)
-  if visited[v] then
-    return false
-  end
   return walk(v, visited)
 end
""",
    """<<path:src/Check.kt>>
 class Check {
   fun runChecks(names: List<String>) {
-    if (names.isEmpty() && !dump.get()) {
-      logger.error("The validation failed")
-      return
-    }
     compare(names)
   }
 }
""",
    """<<path:src/People.cs>>
 class People {
   void Add(Person old, Person person) {
-    if (old.Role != person.Role) {
+    if (old.Name == person.Name) {
       old.Role = person.Role;
     }
   }
 }
""",
    f"""{HANDLER} def save(model, user, page):
-    if not policies.owner(model).allows(user, page):
+    if not policies.guest(model).allows(user, page):
         raise PermissionDenied
     page.save(user)
""",
    """<<path:src/Faq.php>>
 <?php
 class Faq {
   function save($language) {
-    $this->userHasPermissionForLanguage(Right::APPROVE, $language);
+    $this->userHasPermission(Right::APPROVE);
   }
 }
""",
    # A function that makes another value fit, and is not called there.
    f"""{HANDLER} import shlex
 def make(shell, words):
-    words = [shlex.quote(word) for word in words]
     return " ".join(words)
 def copy(name):
-    return "cp " + shlex.quote(name)
+    return "cp " + name
+def put_together(words):
+    return shlex.join(words)
""",
    # What a framework calls, and nobody else.
    f"""{HANDLER} class Save(Handler):
-    def check_permission(self, user):
-        return user.level > 1
-
     def save(self, user):
         self.page.save(user)
""",
)


@examples("change", GUARDS)
def test_a_guard_that_is_asked_nowhere_now_is_reported(change: str) -> None:
    assert [each.rule for each in review(changed_files(change)).findings]


@examples(
    "comment", ("", "+    # all who come here are admins, see the gateway\n", "+    # no\n")
)
def test_a_comment_takes_the_place_of_no_check(comment: str) -> None:
    change = f"""{HANDLER} def delete(user_id):
-    if not session.get("is_admin"):
-        abort(403)
{comment}     remove(user_id)
     return "ok"
"""
    assert found(change).rule == "protection-access"


def test_of_a_copy_nothing_is_gone() -> None:
    subject = changed_files(
        f"""{HANDLER} def save(user, page):
-    check_permission(user, page)
     page.save(user)
"""
    )
    (change,) = subject.changes
    copied = ChangeSet((replace(change, status=Status.COPIED),))
    assert review(replace(subject, changes=copied)).findings == ()


def found(change: str) -> Finding:
    (finding,) = review(changed_files(change)).findings
    return finding


def test_a_helper_that_goes_is_reported_where_it_was_called() -> None:
    finding = found(
        f"""{HANDLER} import html
-def clean(value):
-    return html.escape(value.strip())
-
 def show(name):
-    return "<b>" + clean(name) + "</b>"
+    return "<b>" + name.strip() + "</b>"
"""
    )
    assert (finding.rule, finding.line) == ("protection-escape", 3)
    assert "`clean` is gone" in finding.message


def test_a_warning_may_go_on_in_the_next_line_of_a_comment() -> None:
    finding = found(
        f"""{HANDLER} def env(headers):
     for name in headers:
-        # The header of a client must not be
-        # trusted to name a proxy.
-        if name == "Proxy":
-            continue
         yield name
"""
    )
    assert finding.rule == "protection-warned"


def test_a_finding_shows_both_states() -> None:
    finding = found(
        f"""{HANDLER} import html
 def show(name):
-    return "<b>" + html.escape(name) + "</b>"
+    return "<b>" + name + "</b>"
"""
    )
    assert finding.line == 3
    assert finding.evidence.split("\n") == [
        '- return "<b>" + html.escape(name) + "</b>"',
        '+ return "<b>" + name + "</b>"',
    ]
    assert "`html.escape` is gone" in finding.message


def test_a_real_commit_is_reviewed_from_the_index(repo: Repo) -> None:
    body = "def show(name):\n    return '<b>' + {} + '</b>'\n"
    before = "from html import escape\n" + body.format("escape(name)")
    repo.commit("Show names", {"view.py": before})
    repo.write("view.py", before.replace("escape(name)", "name"))
    repo.git("add", "view.py")
    (finding,) = (
        each
        for each in repo.review("--staged")["findings"]
        if each["rule"].startswith("protection-")
    )
    assert finding["rule"] == "protection-escape"
    assert finding["decision"] == "review"
    assert "- return" in finding["evidence"]


def test_a_new_file_and_one_that_only_grows_lose_nothing() -> None:
    grown = changed_files(
        f"{HANDLER} def f(a):\n     return a\n+\n+check_permission = None\n"
    )
    assert review(grown).findings == ()
    new = changed_files(f"{HANDLER}+def f(a):\n+    return a\n")
    assert review(new).findings == ()


def test_nothing_is_loaded_where_nothing_is_removed() -> None:
    program = (
        "import sys; from cli_guard.model import ChangeSet; from cli_guard.reviewers.review_input import ReviewInput;"
        "from cli_guard.reviewers.protections import review; review(ReviewInput('x', ChangeSet(())));"
        "print([m for m in sys.modules if m.startswith('cli_guard.code.changes') or 'ast_grep' in m])"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
