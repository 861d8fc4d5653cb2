"""Words as passwords: what stands beside them tells whether they log in somewhere else."""

from examples import examples, near_misses

from cli_guard.rules.examples import expand
from cli_guard.secrets import scan

WORD = expand("Winter<<lower:5>>", 1)
HOST = "db.acme.io"


@examples(
    "path, text",
    (
        ("a.cs", f's = "Server=tcp:{HOST},1433;Database=a;User ID=svc;Password={WORD};";'),
        ("a.cs", f's = "Data Source=10.1.2.3;uid=svc;pwd={WORD}";'),
        ("a.cs", f's = "Data Source=ora2:1521/prod.acme.io;User Id=svc;Password={WORD};";'),
        ("a.java", f'u = "jdbc:mysql://{HOST}/a?user=svc&password={WORD}";'),
        ("a.java", f'u = "jdbc:sqlserver://{HOST}:1433;user=svc;password={WORD};";'),
        ("a.py", f'd = "host={HOST} user=svc password={WORD} dbname=a"'),
        (".env", f"DSN=host={HOST} user=svc password={WORD}\n"),
        ("a.sh", f"PGPASSWORD={WORD} psql -h {HOST} -U svc a\n"),
        ("a.sh", f"MYSQL_PWD='{WORD}' mysql --host={HOST} --user=svc a\n"),
    ),
)
def test_a_word_beside_a_user_and_a_host_is_a_password(path: str, text: str) -> None:
    assert [hit.value for hit in scan(text, path).hits] == [WORD]


@near_misses(
    "path, text",
    (
        ("a.cs", f's = "Server=localhost;Database=a;User ID=svc;Password={WORD};";'),
        ("a.cs", f's = "Server=(localdb)\\\\v11.0;User ID=svc;Password={WORD};";'),
        ("a.cs", f's = "Server=.\\\\SQLEXPRESS;User ID=svc;Password={WORD};";'),
        ("a.cs", f's = "Server={HOST};User ID=svc;Password=changeme;";'),
        ("a.cs", f's = "Server={HOST};User ID=svc;Password=YourStrongPassword;";'),
        ("a.cs", 's = "Server=myServer.acme.io;User ID=svc;Password=password;";'),
        ("a.java", f'u = "jdbc:mysql://db:3306/a?user=svc&password={WORD}";'),
        ("a.java", f'u = "jdbc:mysql://db.example.com/a?user=svc&password={WORD}";'),
        ("a.java", f'u = "jdbc:mysql://${{h}}.acme.io/a?user=svc&password={WORD}";'),
        ("a.py", f'd = "host={HOST} password={WORD} dbname=a"'),
        ("a.py", f'd = "host={HOST} user=shop password=shop"'),
        ("a.py", f'd = "host={HOST} user=svc", "password={WORD}"'),
        ("a.py", f"connect(host={HOST!r}, user='svc', password=dbpass)"),
        ("a.sh", f"PGPASSWORD={WORD} psql -h localhost -U svc a\n"),
        ("a.sh", f"PGPASSWORD={WORD} psql a\n"),
        ("a.sh", f"PGPASSWORD=$PW psql -h {HOST} -U svc a\n"),
    ),
)
def test_a_word_alone_or_on_this_machine_is_none(path: str, text: str) -> None:
    assert not scan(text, path).hits
