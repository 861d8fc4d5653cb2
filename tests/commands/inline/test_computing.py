"""Code of Node.js, Ruby and Perl by its names: what only computes, prints and reads, and what reaches further."""

from examples import examples, near_misses
from repositories import Repo

from cli_guard.commands import judge
from cli_guard.commands.inline.computing import only_computes
from cli_guard.commands.model import Context, Profile
from cli_guard.execution.context import command_context
from cli_guard.model import Decision


@near_misses(
    ("language", "code"),
    [
        ("node", "console.log(process.version)"),
        (
            "node",
            "const p = require('./package.json'); console.log(Object.keys(p.scripts))",
        ),
        (
            "node",
            "const fs = require('fs'); console.log(JSON.parse(fs.readFileSync('a.json', 'utf8')).name)",
        ),
        (
            "node",
            "import { readFileSync } from 'node:fs'; console.log(readFileSync('a').length)",
        ),
        (
            "node",
            "function walk(d) { for (const f of fs.readdirSync(d)) { if (f) walk(f) } } walk('src')",
        ),
        (
            "node",
            "[1].map(String).forEach((x, i) => console.log(x)); [2].forEach(console.log)",
        ),
        ("node", "console.log([3, 1].map(x => x * 2).sort((a, b) => a - b).join(','))"),
        (
            "node",
            "const s = 'a,b'; console.log(s.split(/,/).filter(Boolean), `n: ${s.length}`)",
        ),
        (
            "node",
            "let i = 0; i++; console.log((1 + i) / 2); process.exit(0)",
        ),
        ("node", "process.stdout.write(Buffer.from('aGk=', 'base64').toString())"),
        (
            "node",
            "try { JSON.parse(require('fs').readFileSync('a')) } catch (e) { console.error(e.message) }",
        ),
        ("ruby", "puts (1..10).sum"),
        ("ruby", "puts '%.2f' % (10 / 3.0), $stdin.read.length"),
        ("ruby", 'require "json"; puts JSON.parse(File.read("package.json"))["name"]'),
        (
            "ruby",
            'puts Dir["app/**/*.rb"].sort.map { |f| "#{f} #{File.readlines(f).size}" }',
        ),
        (
            "ruby",
            'h = Hash.new(0); File.foreach("a.md") { |l| l.scan(/\\w+/) { |w| h[w] += 1 } }',
        ),
        ("ruby", "print if /foo/; x = 3; puts x / 2"),
        ("perl", "print join(',', map { $_ * 2 } 1..5), \"\\n\""),
        ("perl", '$h{$1}++ if /^(\\w+)/; END { print "$_ $h{$_}\\n" for sort keys %h }'),
        ("perl", "next if /^#/; my @f = split /,/; printf '%s %d', $f[0], scalar @f"),
        ("perl", "print if m/foo/ || s/a/$x[0]/ || $x / 2 > 1"),
    ],
)
def test_it_computes(language: str, code: str) -> None:
    assert only_computes(language, code)


@examples(
    ("language", "code"),
    [
        # A name that reaches further, as what it is, as a text, or by a part of it
        ("node", "require('fs').rmSync('src')"),
        ("node", "const { rmSync: join } = require('fs'); join('src')"),
        ("node", "const { ...f } = require('fs'); Object.values(f)"),
        ("node", "console.log(Object.values(require('fs')))"),
        ("node", "const f = require('fs'); ['src'].forEach(f['rm' + 'Sync'])"),
        ("node", "const f = require('fs'); ['src'].forEach(f['unl' + 'inkSync'])"),
        ("node", "[1].forEach(['x()'].map(Object['con' + 'structor'])[0])"),
        ("node", "['src'].map((x['a']))"),
        ("node", "const f = require('fs'), g = f"),
        ("node", "['child_process'].map(require)"),
        ("node", "console.log(process.env)"),
        ("node", "const { env } = process"),
        ("node", "import('fs').then(f => f.statSync('x'))"),
        ("node", "[].map['con' + 'structor']('x')()"),
        ("node", "const F = [].map['con' + 'structor']; F('x')"),
        ("node", "fetch('http://localhost:3000')"),
        ("node", "require('./src/index.js')"),
        ("ruby", 'system "ls"'),
        ("ruby", 'puts "#{system("ls")}"'),
        ("ruby", "send(:system, 'ls')"),
        ("ruby", "['ls'].each(&method(:system))"),
        ("ruby", "f = File; f.delete('x')"),
        ("ruby", "%w[a.rb].each { |f| File.delete(f) }"),
        ("ruby", "File.open('x', 'w')"),
        ("ruby", "p ENV.to_h"),
        ("perl", 'system("ls")'),
        ("perl", "print `ls`"),
        ("perl", "$x = 'sys' . 'tem'; &$x('ls')"),
        ("perl", "$x->('ls')"),
        ("perl", "print map { $ENV{$_} } keys %ENV"),
        ("perl", "push @ARGV, 'ls |'"),
        # A text that runs code
        ("perl", 'print "@{[unlink(q(f))]}"'),
        ("perl", 'print "$x{a}{unlink(q(f))}"'),
        ("perl", "print if /(?{unlink('f')})/"),
        ("perl", "s/x/unlink('f')/e"),
        ("node", "`${`${evil()}`}`"),
        # A file that is not written out
        ("node", "const x = 'nv'; console.log(fs.readFileSync('.e' + x))"),
        ("node", "console.log(['.env'].map(fs.readFileSync))"),
        ("ruby", "x = '.env'; puts File.read x"),
        ("ruby", "Dir['.e*'].each { |f| puts File.read(f) }"),
        # Where a text or a regular expression ends
        ("node", "i++ / evil() / 1"),
        ("node", "x.return / evil() / 1"),
        ("node", "if (1) /'/.test('a'); evil(); \"'\""),
        ("node", "<!-- /*\nevil() /* */"),
        ("node", "// x\u2028evil()"),
        ("ruby", "x = ?'; system('ls'); y = ?'"),
        ("ruby", "[1].inject(:/); system('ls'); [1].inject(:/)"),
        ("ruby", "x = 4; x /system('ls')/ 1"),
        ("ruby", "puts %('); system('ls'); puts %(')"),
        ("ruby", "x = 4; x %('); system('ls'); x %(')"),
        ("ruby", "=begin\n'\n=end\nsystem('ls') # '"),
        ("perl", "print $a'b; unlink('f'); $c'x;"),
        ("perl", "print $h{a} / unlink('f') / 2"),
        ("perl", "print time / unlink('f') / 1"),
        ("perl", "/\\Q[/; unlink('f'); /]/"),
        ("perl", "=for '\n\n=cut\nunlink('f');#'"),
    ],
)
def test_it_may_do_more(language: str, code: str) -> None:
    assert not only_computes(language, code)


@examples("command", ["node -p '1 + 1'", "ruby -e 'puts 1'", "perl -e 'print 1'"])
def test_only_in_a_trusted_tree(command: str, committed: Repo) -> None:
    trusted = command_context(committed.path, committed.env, profile=Profile.WORKSPACE)
    assert judge(command).verdict is Decision.REVIEW
    verdict = judge(command, trusted)
    assert verdict.verdict is Decision.ALLOW
    assert "as far as its names tell (trusted work tree" in verdict.reason


@examples(
    "command",
    [
        'node -e \'console.log(require("fs").readFileSync(".env", "utf8"))\'',
        "ruby -e 'puts File.read(\"/etc/shadow\")'",
        # What is printed takes the place of the file.
        "perl -i -ne '1' a.py",
    ],
)
def test_what_it_reads_or_writes_counts(command: str) -> None:
    assert judge(command, Context(profile=Profile.WORKSPACE)).verdict is Decision.REVIEW
