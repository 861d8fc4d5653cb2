"""A check that stands somewhere else after the change is not gone; one that moved to where it does not help is."""

from examples import examples, near_misses
from rules.example_kinds import changed_files

from cli_guard.reviewers.protections import review

# Each kind of move, and what looks like it: a name of the move, what is replaced in it, and by what.
MOVES = {
    "router": """<<path:src/coupons.ts>>
 import { requireRole } from './roles';
 const router = Router();
+router.use(requireRole('sales'));
-router.post('/', requireRole('sales'), async (req, res) => {
+router.post('/', async (req, res) => {
   res.json(await create(req.body));
 });
-router.delete('/:id', requireRole('sales'), async (req, res) => {
+router.delete('/:id', async (req, res) => {
   await disable(req.params.id);
 });
""",
    "mounted": """<<path:src/routes/coupons.ts>>
 const router = Router();
-router.post('/', requireRole('sales'), create);
+router.post('/', create);
-router.delete('/:id', requireRole('sales'), disable);
+router.delete('/:id', disable);
 export default router;
<<path:src/app.ts>>
 import coupons from './routes/coupons';
 import reports from './routes/reports';
-app.use('/coupons', coupons);
+app.use('/coupons', requireRole('sales'), coupons);
""",
    "group": """<<path:routes/web.php>>
 <?php
-Route::get('/settings', [Settings::class, 'show'])->middleware('auth');
-Route::post('/settings', [Settings::class, 'save'])->middleware('auth');
+Route::middleware('auth')->group(function () {
+    Route::get('/settings', [Settings::class, 'show']);
+    Route::post('/settings', [Settings::class, 'save']);
+});
""",
    "go group": """<<path:http/routes.go>>
 package http
 func routes(r *gin.Engine) {
-	r.GET("/users", requireLogin(), list)
-	r.POST("/users", requireLogin(), create)
+	inner := r.Group("/")
+	inner.Use(requireLogin())
+	inner.GET("/users", list)
+	inner.POST("/users", create)
 }
""",
    "made router": """<<path:http/routes.go>>
 package http
 func routes(r *gin.Engine) {
-	r.GET("/users", requireLogin(), list)
-	r.POST("/users", requireLogin(), create)
+	inner := r.Group("/in", requireLogin())
+	inner.GET("/users", list)
+	inner.POST("/users", create)
 }
""",
    "filter": """<<path:app/controllers/pages_controller.rb>>
 class PagesController < ApplicationController
+  before_action :require_admin
   def save
-    self.require_admin
     @page.save
   end
   def destroy
-    self.require_admin
     @page.destroy
   end
 end
""",
    "base": """<<path:app/controllers/pages_controller.rb>>
 class PagesController < InnerController
-  before_action :require_admin
   def save
     @page.save
   end
 end
<<path:app/controllers/users_controller.rb>>
 class UsersController < InnerController
-  before_action :require_admin
   def save
     @user.save
   end
 end
<<path:app/controllers/inner_controller.rb>>
 class InnerController
+  before_action :require_admin
   layout "inner"
 end
""",
    "base with its filter": """<<path:app/controllers/admin/base_controller.rb>>
 class Admin::BaseController < ApplicationController
+  before_action :require_admin
+
+  def require_admin
+    redirect_to root_path unless current_user.admin?
+  end
 end
<<path:app/controllers/admin/coupons_controller.rb>>
 class Admin::CouponsController < Admin::BaseController
-  before_action :require_admin
   def create
     Coupon.create!(params)
   end
-  def require_admin
-    redirect_to root_path unless current_user.admin?
-  end
 end
""",
    "caller": """<<path:src/read.c>>
 static int read_name(struct reader *r, size_t len)
 {
-    if (len < HEADER_SIZE)
-        return -1;
     return copy(r->name, len - HEADER_SIZE);
 }
 static int read_text(struct reader *r, size_t len)
 {
-    if (len < HEADER_SIZE)
-        return -1;
     return copy(r->text, len - HEADER_SIZE);
 }
 int read_one(struct reader *r, size_t len)
 {
     int kind;
+    if (len < HEADER_SIZE)
+        return -1;
     kind = read_kind(r);
     if (kind == NAME)
         return read_name(r, len);
     return read_text(r, len);
 }
""",
    "callee": """<<path:pkg/reader.go>>
 package pkg
 func (r *Reader) Restart(command string) {
-    r.mutex.Lock()
-    r.start(command)
-    r.mutex.Unlock()
+    r.run(command)
 }
 func (r *Reader) Again(command string) {
-    r.mutex.Lock()
-    r.start(command)
-    r.mutex.Unlock()
+    r.run(command)
 }
 func (r *Reader) run(command string) {
+    r.mutex.Lock()
     command = expand(command)
     r.start(command)
     r.finish(command)
+    r.mutex.Unlock()
     r.count++
 }
""",
    "layout": """<<path:pages/reports.js>>
 import Layout from 'components/Layout';
 export default function ReportsPage() {
-  const { user } = useRequireLogin();
   return <Layout page={<Reports />} />;
 }
<<path:pages/users.js>>
 import Layout from 'components/Layout';
 export default function UsersPage() {
-  const { user } = useRequireLogin();
   return <Layout page={<Users />} />;
 }
<<path:components/Layout.js>>
 export default function Layout({ children }) {
+  useRequireLogin();
   return <main>{children}</main>;
 }
""",
    "divided": """<<path:src/write.c>>
 int write_all(struct client *c)
 {
     size_t total = 0;
     while (has_more(c)) {
         total += write_some(c);
-        if (total > MAX_WRITES && !c->is_slow)
-            break;
+        if (total > MAX_WRITES) {
+            c->is_full = 1;
+            if (!c->is_slow)
+                break;
+        }
     }
     return 0;
 }
""",
    "asserted": """<<path:src/threads.c>>
 void init_threads(void)
 {
-    if (server.threads > MAX_THREADS) {
-        exit(1);
-    }
+    server_assert(server.threads <= MAX_THREADS);
     start(server.threads);
 }
""",
    "query": """<<path:app/views.py>>
 def show(request, pk):
-    order = Order.objects.get(pk=pk)
-    if order.owner_id != request.user.id:
-        raise PermissionDenied
+    order = Order.objects.get(pk=pk, owner=request.user)
     return render(order)
""",
    "where": """<<path:app/Orders.php>>
 <?php
 class Orders {
     public function show($user, $id) {
-        $order = Order::find($id);
-        if ($order->user_id !== $user->id) { abort(403); }
+        $order = Order::where('user_id', $user->id)->findOrFail($id);
         return view('order', $order);
     }
 }
""",
    "owned": """<<path:app/controllers/orders_controller.rb>>
 class OrdersController
   def show
-    @order = Order.find(params[:id])
-    return head :forbidden unless @order.user_id == current_user.id
+    @order = current_user.orders.find(params[:id])
   end
 end
""",
    "mongo": """<<path:src/orders.ts>>
 async function show(req, res) {
-  const order = await Order.findById(req.params.id);
-  if (order.userId !== req.user.id) return res.status(403).end();
+  const order = await Order.findOne({ _id: req.params.id, userId: req.user.id });
   res.json(order);
 }
""",
    "field": """<<path:app/cart.py>>
 class Line(BaseModel):
-    quantity: int
+    quantity: int = Field(ge=1, le=99)

 def add(line: Line):
-    if line.quantity < 1 or line.quantity > 99:
-        raise HTTPException(422, "out of range")
     return cart.add(line.quantity)
""",
    "annotation": """<<path:src/LineDto.java>>
 class LineDto {
+  @Min(1)
+  @Max(99)
   private int quantity;
 }
<<path:src/Cart.java>>
 class Cart {
   void add(LineDto line) {
-    if (line.quantity < 1 || line.quantity > 99) { throw new BadRequest("out of range"); }
     lines.add(line.quantity);
   }
 }
""",
    "setting": """<<path:infra/cache.tf>>
+locals {
+  inner = ["10.2.4.0/24"]
+}
 resource "aws_security_group" "cache" {
   ingress {
     from_port   = 6379
-    cidr_blocks = ["10.2.0.0/16"]
+    cidr_blocks = local.inner
   }
 }
""",
    "renamed": """<<path:app/urls.ts>>
-export function isSafeRedirect(target: string): boolean {
+export function isLocalPath(target: string): boolean {
   return /^\\/(?![/\\\\])/.test(target);
 }
<<path:app/logout.ts>>
-import { isSafeRedirect } from './urls';
+import { isLocalPath } from './urls';
 export function logout(req: Request, res: Response) {
   const target = String(req.query.to);
-  if (!isSafeRedirect(target)) {
+  if (!isLocalPath(target)) {
     return res.redirect('/');
   }
   return res.redirect(target);
 }
""",
    "split class": """<<path:app/pages.py>>
 class Pages:
-    def save(self, user, page):
-        check_permission(user, page)
-        page.save(user)
-
     def show(self, page):
         return page.text
<<path:app/writers.py>>
+class Writers:
+    def save(self, user, page):
+        check_permission(user, page)
+        page.save(user)
""",
}
CALLER_CHECK = "+    if (len < HEADER_SIZE)\n+        return -1;\n"
CALLS = f"""{CALLER_CHECK}     kind = read_kind(r);
     if (kind == NAME)
         return read_name(r, len);
     return read_text(r, len);
"""
STILL_GONE = (
    # Another router, one that is used only further down, one that asks below a path alone.
    ("router", "router.use", "reports.use"),
    ("router", "+router.use(requireRole('sales'));\n", ""),
    ("router", "requireRole('sales'));\n", "requireRole('guests'));\n"),
    ("router", "router.use(", "router.use('/old', "),
    ("mounted", "requireRole('sales'), coupons", "requireRole('sales'), reports"),
    ("group", "+    Route::post(", "+});\n+Route::group(function () {\n+    Route::post("),
    ("go group", "inner.Use", "outer.Use"),
    ("made router", "inner := r.Group", "outer := r.Group"),
    ("filter", ":require_admin\n", ":require_admin, only: [:save]\n"),
    ("filter", ":require_admin\n", ":require_admin, except: [:destroy]\n"),
    ("filter", ":require_admin\n", ":require_admin, if: :open?\n"),
    ("base", "UsersController < InnerController", "UsersController < OuterController"),
    ("base with its filter", "< Admin::BaseController", "< Shop::BaseController"),
    # A function that does not call it, one that asks only behind the call, that of another value.
    ("caller", "return read_text(", "return read_other("),
    ("caller", CALLS, f"     kind = read_text(r, len);\n{CALLER_CHECK}"),
    ("caller", CALLER_CHECK, ""),
    ("caller", "+    if (len < HEADER_SIZE)", "+    if (size < HEADER_SIZE)"),
    # One that is not called there, or does not have it.
    ("callee", "+    r.run(command)", "+    r.start(command)"),
    ("callee", "+    r.mutex.Lock()\n", ""),
    ("layout", "return <Layout", "return <Other"),
    ("layout", "+  useRequireLogin();\n", ""),
    # Another bound, or one that nothing comes of.
    ("asserted", "<= MAX_THREADS", "<= OTHER_THREADS"),
    ("asserted", "server_assert(", "server_log("),
    # What belongs to another, of another value, or is only handed along.
    ("query", "owner=request.user)", "shop=request.shop)"),
    ("query", "owner=request.user)", "seen_by=request.user)"),
    ("query", "+    order =", "+    other ="),
    ("where", "where('user_id', $user->id)", "where('shop_id', $shop->id)"),
    ("owned", "+    @order = current_user.orders", "+    @order = current_shop.orders"),
    ("mongo", "userId: req.user.id", "userId: req.body.id"),
    # Another field, another bound, a type that is used elsewhere.
    (
        "field",
        "+    quantity: int = Field(ge=1, le=99)",
        "+    price: int = Field(ge=1, le=99)",
    ),
    ("field", "le=99", "le=9900"),
    ("field", "le=99", "title='x'"),
    ("field", "class Line(", "class Other("),
    ("annotation", "+  @Max(99)\n", ""),
    ("annotation", "private int quantity", "private int price"),
    ("setting", '["10.2.4.0/24"]', '["0.0.0.0/0"]'),
    ("setting", "local.inner", "local.other"),
    # A helper that does something else now.
    ("renamed", "   return /^", "+  log(target);\n   return /^"),
    ("split class", "+        check_permission(user, page)\n", ""),
)


@near_misses("kind", tuple(MOVES))
def test_a_check_that_moved_is_not_gone(kind: str) -> None:
    assert [each.message for each in review(changed_files(MOVES[kind])).findings] == []


@examples(("kind", "old", "new"), STILL_GONE)
def test_a_check_that_moved_where_it_does_not_help_is_gone(
    kind: str, old: str, new: str
) -> None:
    assert old in MOVES[kind]
    change = MOVES[kind].replace(old, new)
    assert review(changed_files(change)).findings
