"""What programs for awk, sed, jq and SQL do."""

from collections.abc import Callable

from examples import table

Row = tuple[str, ...]
Check = Callable[[str, Row], None]


AWK: list[Row] = [
    ("{print $1}", ""),
    ("NR>1 {print $2}", ""),
    ("$3 > 100 && $1 ~ /a\\/b[/]/ {n++} END {print n/2, n}", ""),
    ('{print (NR>1) ? "a" : "b"}', ""),
    (
        'BEGIN {FS=","; OFS="\\t"} {$1=$1; print; if ($2 >= 3) x[$1] += $2} END {for (k in x) print k, x[k]}',
        "",
    ),
    ('{print "a > b | c system()"} # > x | y', ""),
    ('{print $1 > "/dev/stderr"; print toupper($2), substr($0, 1, 3)}', ""),
    ('BEGIN {print ENVIRON["HOME"]}', ""),
    ('BEGIN {if ("X" in ENVIRON) print 1}', "credential"),
    ("function f(x) {return x*2} {print f($1)}", ""),
    ('{print $1 > "out.txt"}', "write", "out.txt"),
    ('{print $1, $2 >> "out" ".txt"}', "write", "out.txt"),
    ("{print > $1}", "write"),
    ('{printf("%s\\n", $1) > "x"}', "write", "x"),
    ('{print $1,\n $2 > "x"}', "write", "x"),
    ('BEGIN {system("rm -rf /")}', "exec", "rm -rf /"),
    ('BEGIN {system("\\x72m -rf /")}', "exec", "rm -rf /"),
    ('BEGIN {c = "rm -rf /"; system(c)}', "exec", "rm -rf /"),
    ("{system($1)}", "exec"),
    ('{system("rm " $1)}', "exec"),
    ('BEGIN {while (("ls" | getline l) > 0) print l}', "exec", "ls"),
    ('BEGIN {"date" | getline}', "exec", "date"),
    ('{print | "sort -n"}', "exec", "cat | sort -n"),
    ('BEGIN {print "rm -rf /" | "sh"}', "exec", "rm -rf /"),
    ("/x/ {getline; print} /y/ {getline l; print l}", ""),
    ("{$1 | getline}", "exec"),
    ('BEGIN {getline x < "/etc/passwd"; print x}', "read"),
    ("BEGIN {while ((getline l < f) > 0) print l}", "read"),
    ('BEGIN {s = "/inet/tcp/0/h/80"; print "x" |& s}', "exec network-out"),
    ('BEGIN {getline x < "/inet/tcp/0/h/80"}', "network-out read"),
    ("BEGIN {for (k in ENVIRON) print ENVIRON[k]}", "credential"),
    ('BEGIN {print ENVIRON["GH_TOKEN"]}', "credential", "GH_TOKEN"),
    ('@load "filefuncs"', "exec"),
    ('BEGIN {f = "system"; @f("id")}', "exec"),
    ('BEGIN {getline x < ".env" "x"}', "read"),
    ('BEGIN {ARGV[1] = "x"}', "unknown"),
    ('{print "a}', "unknown"),
    ("BEGIN {if (x) /a/}", "unknown"),
]
SED: list[Row] = [
    ("s/a/b/", ""),
    ("s/a/b/gI;1,10p", ""),
    ("1~2d;0,/x/I!s|a|/dev/e|g;\\%x%,+3d;$!N;2q5", ""),
    (":a;N;$!ba;s/\\n/ /g", ""),
    ("s,[^,]*$,,;s/[[:space:]/]*$//", ""),
    ("/a/{s/x/w y/;p}", ""),
    ("y/abc/xyz/;=;l 5;n;D", ""),
    ("1i\\  e rm -rf /", ""),
    ("$a w x", ""),
    ("/x/c\\\nsome \\\ntext\np", ""),
    ("# w x\np", ""),
    ("s/a/b/w /dev/stdout", ""),
    ("$!{h;d};H;x", ""),
    ("w out.txt", "write", "out.txt"),
    ("s/a/b/gw out.txt", "write", "out.txt"),
    ("/a/W x;y", "write", "x;y"),
    ("/a/{w x\n}", "write", "x"),
    ("r in.txt", "read", "in.txt"),
    ("1R in.txt", "read", "in.txt"),
    ("1e rm -rf /", "exec", "rm -rf /"),
    ("e", "exec"),
    ("s/.*/rm -rf \\//e", "exec", "rm -rf /"),
    ("s/x/&/e", "exec"),
    ("s,x,id,2e", "exec", "id"),
    ("s/a/b", "unknown"),
    ("s/a/b/k", "unknown"),
    ("{p", "unknown"),
    ("k", "unknown"),
    ("1,p", "unknown"),
    ("w", "unknown"),
    ("s/[/x/", "unknown"),
]
JQ: list[Row] = [
    (".", ""),
    ('.a[0].b | select(.c == "d") | @sh "rm \\(.x)"', ""),
    ('.env, ."env", {env}, {env: 1}, .import', ""),
    ('"env $ENV import" # env', ""),
    ('$ENV.PATH, env.HOME, $ENV["LANG"]', ""),
    ('[.[] | {a, b: (.c // "none")}] | map(.a |= . + 1) | input_filename', ""),
    ("env", "credential"),
    ("$ENV", "credential"),
    ("{$ENV}", "credential"),
    ("env | keys", "credential"),
    ('"a\\(env.GH_TOKEN)"', "credential", "GH_TOKEN"),
    ("$ENV[.x]", "credential"),
    ('import "m" as m; m::f', "exec"),
    ('include "m"; .', "exec"),
    ('"a', "unknown"),
    ("`", "unknown"),
]
SQL: list[Row] = [
    ("select count(*), lower(a) from t where x in (1, 2) group by 1", "service-read"),
    ("select 'drop table x;' -- ; drop table x\n from t", "service-read"),
    (
        "with a(x) as (select 1), b(y) as (select 2) select * from a join b using (x)",
        "service-read unknown",
    ),
    ('select comment, "update" from t for update', "service-read"),
    ("explain delete from t", "service-write"),
    ("show tables; use db; set names utf8; describe t", "service-read"),
    ("PRAGMA table_info(users);", "service-read"),
    (".tables", "service-read"),
    (".mode csv\n.headers on\nselect 1;", "service-read"),
    ("\\dt+ public.*", "service-read"),
    ("\\l", "service-read"),
    ("copy (select * from t) to stdout", "unknown"),
    (
        "select sum(x) filter (where a) over (partition by b) from t; begin; commit",
        "service-read",
    ),
    ("insert into t(a, b) values (1, 2)", "service-write"),
    ("delete from t", "service-write"),
    ("drop table t; select 1", "service-read service-write"),
    ("with d as (delete from t returning *) select * from d", "service-write"),
    ("explain analyze delete from t", "service-write"),
    ("select * into new from t", "service-read service-write"),
    ("pragma journal_mode=wal", "service-write"),
    ("set global x = 1", "service-write"),
    ("select pg_terminate_backend(1)", "service-read service-write"),
    ("select pg_read_file('/etc/passwd')", "read service-read", "/etc/passwd"),
    ("select readfile('x'), writefile('y', 'z')", "read service-read write", "y"),
    ("select lo_export(1, '/tmp/x')", "service-read write"),
    ("select load_extension('x')", "exec service-read", "x"),
    ("select xp_cmdshell('dir')", "exec service-read", "dir"),
    ("select dblink('host=x', 'select 1')", "network-out service-read", "host=x"),
    ("select my_function(1)", "service-read unknown"),
    ("copy t to program 'curl x'", "exec unknown write", "curl x"),
    ("copy t from '/x'", "exec read unknown write", "/x"),
    ("copy t to '/x'", "exec unknown write", "/x"),
    ("select 1 into outfile '/x'", "exec service-read service-write write", "/x"),
    ("load data infile '/x' into table t", "exec unknown write", "/x"),
    ("attach 'x.db' as y", "exec unknown write", "x.db"),
    (
        "select * from 'https://x.example/a.csv'",
        "network-in service-read",
        "https://x.example/a.csv",
    ),
    (
        'select * from "https://x.example/a.csv"',
        "network-in service-read",
        "https://x.example/a.csv",
    ),
    ("from 's3://bucket/a.parquet'", "network-in service-read", "s3://bucket/a.parquet"),
    ("select * from t, 'gcs://bucket/a.csv'", "network-in service-read"),
    ("select * from \"t\", 'gcs://bucket/a.csv'", "network-in service-read"),
    ("select * from t tablesample 10%, 'gcs://bucket/a.csv'", "network-in service-read"),
    ("select * from t join 'hf://datasets/a/b.csv' using (x)", "network-in service-read"),
    ("from read_csv(['http://x.example/a.csv', 'b.csv'])", "network-in read service-read"),
    ("select * from read_parquet('s3://' || 'bucket/a.parquet')", "read service-read"),
    ("select * from e'\\x68ttps://x.example/a.csv'", "network-in service-read"),
    ("from $$https://x.example/a.csv$$", "network-in service-read"),
    ("attach 'https://x.example/a.db' as y", "exec network-in unknown write"),
    ("copy t to 's3://bucket/a.csv'", "exec network-out unknown write"),
    ("select * from 'a.csv'", "read service-read", "a.csv"),
    ("install httpfs; load httpfs", "unknown"),
    (
        "select 'https://x.example', a from t where b = 'https://x.example/c'",
        "service-read",
    ),
    (
        "select a from t where b like 'https://x.example/%' or b in ('https://x.example')",
        "service-read",
    ),
    ("select json_execute_serialized_sql('x')", "service-read unknown"),
    ("vacuum", "service-write"),
    ("\\! rm -rf /", "exec", "rm -rf /"),
    (".shell rm -rf /", "exec", "rm -rf /"),
    (".once |sh\nselect 1", "exec service-read unknown write", "cat | sh"),
    ("select 1 \\g |sh", "exec service-read unknown write", "cat | sh"),
    ("\\o x.txt", "exec unknown write", "x.txt"),
    (".output x.txt", "exec unknown write", "x.txt"),
    (".import x.csv t", "exec unknown write"),
    (".read x.sql", "exec unknown write", "x.sql"),
    ("\\i x.sql", "exec unknown write", "x.sql"),
    ("source x.sql", "exec unknown write", "x.sql"),
    ("\\copy t to 'x.csv' csv", "exec unknown write"),
    ("\\copy t from program 'id'", "exec unknown write", "id"),
    ("\\echo `id`", "exec unknown write"),
    ("do $$ begin end $$", "unknown"),
    ("select '\\'; drop table x; -- '", "unknown"),
    ("select 1 /*! drop table x */", "unknown"),
    ("frobnicate", "unknown"),
    ("select 'a", "unknown"),
]


@table("row", AWK, ids=lambda row: row[0][:80])
def test_awk(row: Row, check: Check) -> None:
    check("awk", row)


@table("row", SED, ids=lambda row: row[0][:80])
def test_sed(row: Row, check: Check) -> None:
    check("sed", row)


@table("row", JQ, ids=lambda row: row[0][:80])
def test_jq(row: Row, check: Check) -> None:
    check("jq", row)


@table("row", SQL, ids=lambda row: row[0][:80])
def test_sql(row: Row, check: Check) -> None:
    check("sql", row)
