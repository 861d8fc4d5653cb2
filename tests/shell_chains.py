"""Chains of bash, by subject: what real bash answers to each is what the run tool must answer.

One a line; `⏎` stands for a line end. They run in a folder that holds `FILES`, with `STDIN` as standard input.
"""

STDIN = b"gamma 3\nalpha 1\nbeta 2\nalpha 10\n"

FILES: dict[str, bytes] = {
    "fruits.txt": b"banana\napple\ncherry\napple\nfig\nBanana\n\ndate\n",
    "numbers.txt": b"10\n9\n2\n33\n2\n-1\n100\n",
    "people.csv": b"name,age,city\nAda,36,London\nBob,41,Paris\nCid,29,\nDee,41,London\n",
    "app.log": b"".join(
        b"2026-05-%02d %s %s request %d took %dms\n"
        % (
            day % 28 + 1,
            (b"INFO", b"ERROR", b"WARN")[day % 3],
            (b"api", b"db")[day % 2],
            day,
            day * 7 % 90,
        )
        for day in range(60)
    ),
    "src/main.py": b"import os\n\n\ndef main(argv):\n    print('hello')\n    return 0\n\n\nclass App:\n    pass\n",
    "src/util.py": b"def helper(x):\n    # TODO: mend\n    return x + 1\n",
    "src/deep/er/mod.py": b"VALUE = 3  # TODO\n",
    "docs/read me.md": b"# Title\n\nSome text with `code`.\n",
    "docs/notes.md": b"one\ntwo words\nthree more words\n\n\nlast without end",
    "config.ini": b"[db]\nhost = localhost\nport=5432\n\n[web]\nport = 8080\n",
    "tabs.tsv": b"a\tb\tc\n1\t2\t3\nx\t\tz\n",
    "data.json": b'{"name": "x", "list": [1, 2, {"a": null}], "ok": true}\n',
    "sorted1": b"a\nb\nd\ne\n",
    "sorted2": b"b\nc\nd\nf\n",
    "one/x.txt": b"x1\n",
    "two/x.txt": b"x2\n",
    "empty": b"",
    "crlf.txt": b"one\r\ntwo\r\n",
    "utf8.txt": "grün\nété\n日本\n".encode(),
    ".hidden": b"secret\n",
    "script.sh": b"echo script $1 $#\nexit 4\n",
}

CHAINS: dict[str, str] = {
    "chains": r"""
echo a && echo b
false && echo b
false || echo c
true || echo c
false && echo a || echo b
true && false || echo b; echo c
echo a; false; echo $?
false; echo $?
true; false
! true; echo $?
! false && echo yes
cat fruits.txt | grep zzz && echo yes
cat fruits.txt | grep apple && echo yes
cat fruits.txt | grep zzz || echo none
grep zzz fruits.txt | cat; echo $?
set -o pipefail; grep zzz fruits.txt | cat; echo $?
cat missing | wc -l
cat missing 2>/dev/null || echo absent
ls missing 2>/dev/null; echo $?
echo a | cat | cat | cat
{ echo a; echo b; } | wc -l
(echo a; exit 3); echo $?
(exit 7) || echo "failed $?"
exit 5
echo a; exit 2; echo b
true | false | true; echo "${PIPESTATUS[@]}"
false | true && echo ok
nosuchcommand; echo $?
nosuchcommand 2>/dev/null || echo fallback
echo a & wait; echo b
cat app.log | grep ERROR | wc -l
cat config.yaml 2>/dev/null || echo "config not found, using defaults"
cat app.log | grep ERROR | sort | head -3
echo start && { false || true; } && echo end
if grep -q ERROR app.log; then echo found; else echo clean; fi
test -f fruits.txt && wc -l < fruits.txt
true && ! false && echo both
set -e; false; echo not reached
set -u; echo $undefined_name
set -eu; echo fine; (false); echo no
x=1; x=2 true; echo $x
x=5 bash -c 'echo $x'
""",
    "quoting": r"""
echo 'single $HOME "double"'
echo "double 'single' $((1+1))"
echo a\;b
echo "a;b" 'c|d' "e&&f"
echo \$HOME "\$HOME" '\$HOME'
echo "a\tb" 'a\tb'
echo $'a\tb\x41\101\u00e9'
echo "a
b"
echo a"b"'c'd
echo "" '' x
printf '%s\n' "a b" c\ d 'e  f'
echo "it's" 'say "hi"'
x="a  b"; echo $x; echo "$x"
echo "\"quoted\""
echo `echo back`
echo "`echo 'in quotes'`"
echo "$(echo "nested $(echo "deep")")"
echo {a,b}{1,2}
echo {1..5} {a..e} {5..1} {1..10..3} {01..03}
echo "{a,b}"
echo \{a,b\}
echo ~+ | grep -c .
echo *.txt
echo "*.txt" '*.txt'
echo src/*.py
echo nomatch*.zzz
echo [fn]*.txt
echo ?rlf.txt
echo docs/*
for f in docs/*.md; do echo "[$f]"; done
echo .h*
echo */x.txt
echo one/../two/x.txt
shopt -s nullglob; echo nomatch*
shopt -s globstar; echo **/*.py
shopt -s extglob⏎echo !(*.txt|*.csv|src|docs)
shopt -s extglob⏎case foo.py in *.@(py|sh)) echo source;; esac
echo $'tab\there' | cat -A
echo -e "a\nb\tc"
echo -n abc
echo -E 'a\nb'
echo -ne 'x\ty\n'
echo -- -n
echo "a" "b"   "c"
echo a#b # comment
echo '#' "#"
""",
    "variables": r"""
x=5; echo $x ${x} "${x}y"
x=hello; echo ${#x} ${x:1:3} ${x: -2} ${x:2}
x=a.b.c; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.}
x=banana; echo ${x/a/o} ${x//a/o} ${x/#b/B} ${x/%a/A} ${x//a}
x=Hello; echo ${x^^} ${x,,} ${x^} ${x,}
unset x; echo ${x:-default} ${x-d2} "${x:=assigned}" $x
x=; echo "${x:-empty}" "${x-set}" "${x:+alt}" "${x+alt}"
echo ${x:?missing}; echo after
a=(one two three); echo ${a[0]} ${a[1]} ${a[@]} ${#a[@]} ${a[-1]}
a=(1 2 3); a+=(4 5); echo "${a[*]}" "${!a[@]}" "${a[@]:1:2}"
a=("x y" z); for i in "${a[@]}"; do echo "<$i>"; done
a=(c a b); printf '%s\n' "${a[@]}" | sort | tr '\n' ' '
declare -A m; m[k]=v; m[j]=w; echo ${m[k]} ${#m[@]}
declare -A m=([a]=1 [b]=2); for k in a b; do echo $k=${m[$k]}; done
x=y; y=z; echo ${!x}
echo $((1+2*3)) $((10/3)) $((10%3)) $((2**10)) $((-7/2))
echo $((5>3)) $((5==3)) $((1&&0)) $((1||0)) $((~5)) $((5^3)) $((1<<4))
x=3; echo $((x*2)) $((x++)) $x $((++x)) $((x+=10)) $x
echo $((0x1f)) $((010)) $((2#101)) $((5?1:2))
((1+1)); echo $?; ((0)); echo $?
let x=2+3; echo $x
i=0; while ((i<3)); do echo $i; ((i++)); done
x=$(echo hi); echo "[$x]"
x=$(printf 'a\n\n\n'); echo "[$x]"
x=$(false); echo $?
local_test() { local x=1; echo $x; }; x=2; local_test; echo $x
readonly r=1; r=2; echo $r
export E=1; bash -c 'echo $E'
unset E; echo "[$E]"
IFS=,; x="a,b,c"; set -- $x; echo $# $2
IFS=: read a b c <<< "1:2:3"; echo $b
set -- a b c; echo $# $1 $3 "$@"; shift; echo $1
x="a b c"; set -- $x; echo $#
echo "${x@Q}"; y="it's"; echo "${y@Q}"
echo $# $0 | cut -c1-1
printf -v v '%03d' 7; echo $v
x=abc; [[ $x == a* ]] && echo glob
x=10; y=9; [[ $x > $y ]]; echo $?; [ $x -gt $y ]; echo $?
mapfile -t lines < fruits.txt; echo ${#lines[@]} ${lines[2]}
readarray -t l <<< $'a\nb'; echo ${l[1]}
x=1; (x=2; echo $x); echo $x
echo a | read v; echo "[$v]"
read v <<< word; echo $v
declare -i n=3+4; echo $n
echo ${BASH_VERSINFO[0]}
x=aXbXc; echo ${x//X/$'\n'}
x='a*b'; echo "${x//\*/-}"
s=path/to/file.tar.gz; echo ${s##*/} ${s%/*} ${s%%.*}
printf '%s ' "${@:-none}"; echo
""",
    "redirects": r"""
echo a > new; cat new
echo a > new; echo b >> new; cat new
cat < fruits.txt | head -1
echo err >&2
echo err 2>&1 >&2 | wc -l
ls missing 2>&1 | wc -l
ls missing > out 2>&1; wc -l < out
ls missing 2> err; wc -l < err
{ echo o; echo e >&2; } 2>/dev/null
{ echo o; echo e >&2; } 2>&1 | sort
{ echo o; echo e >&2; } &> both; sort both
echo x | tee t1 t2 | cat; cat t1 t2
cat <<EOF⏎a $((1+1))⏎EOF
cat <<'EOF'⏎a $((1+1))⏎EOF
cat <<-EOF⏎	tabbed⏎	EOF
x=5; cat <<E | tr a-z A-Z⏎val $x⏎E
cat <<A; cat <<B⏎1⏎A⏎2⏎B
cat <<< "here string"
wc -c <<< abc
tr a-z A-Z < fruits.txt | head -2
> created; ls created; wc -c < created
while read -r l; do echo "<$l>"; done < sorted1
while read -r l; do echo "<$l>"; done <<< "x y"
exec 3< sorted1; read -u 3 a; read -u 3 b; echo $a $b
cat sorted1 > copy && cmp sorted1 copy && echo same
echo data > "file with space"; cat "file with space"
cat missing > out; echo $?; wc -c < out
diff <(sort fruits.txt) <(sort -u fruits.txt) > /dev/null; echo $?
cat <(echo a) <(echo b)
echo hi | tee >(cat > copy2) > /dev/null; sleep 0.05; echo done
: > empty2; [ -s empty2 ] || echo empty
set -C; echo a > fruits.txt; echo $?
cat /dev/null | wc -l
echo a 1>&2 2>/dev/null; echo b
cat < missing; echo $?
cat - < sorted1 | tail -1
echo x | cat sorted1 - | tail -2
sort < numbers.txt > s; head -1 s
echo line >> fruits.txt; tail -1 fruits.txt
rm fruits.txt; ls fruits.txt 2>/dev/null || echo gone
""",
    "control": r"""
for i in 1 2 3; do echo $i; done
for i in a b; do for j in 1 2; do echo $i$j; done; done
for ((i=0; i<3; i++)); do echo $i; done
for f in *.txt; do echo "$f"; done
for i in $(seq 3); do echo -n "$i "; done; echo
while true; do echo x; break; done
i=0; until [ $i -ge 3 ]; do echo $i; i=$((i+1)); done
for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done
for i in 1 2; do for j in 1 2; do continue 2; done; echo never; done; echo end
if [ 1 -eq 1 ]; then echo eq; fi
if false; then echo a; elif true; then echo b; else echo c; fi
if [[ -f fruits.txt && ! -d fruits.txt ]]; then echo file; fi
case abc in a*) echo starts;; *) echo other;; esac
case x in a|b) echo ab;; x|y) echo xy;; esac
case 5 in [0-9]) echo digit;; esac
case x in x) echo 1;& y) echo 2;; z) echo 3;; esac
case x in x) echo 1;;& *) echo any;; esac
case "" in "") echo empty;; esac
f() { echo "f $1 $#"; }; f a b
f() { return 3; }; f; echo $?
f() { echo in; }; x=$(f); echo "[$x]"
function g { echo g; }; g
f() { local v=1; v=2; echo $v; }; v=0; f; echo $v
fact() { [ $1 -le 1 ] && echo 1 || echo $(( $1 * $(fact $(($1-1))) )); }; fact 5
f() { for a in "$@"; do echo "<$a>"; done; }; f "x y" z
f() { cat; }; echo piped | f
f() { echo a; return 1; echo b; }; f || echo failed
[ -d src ] && echo dir
[ -e missing ] || echo no
[ -z "" ] && [ -n x ] && echo ok
[ a = a -a b = b ] && echo and
[ a = b -o b = b ] && echo or
[ "a" \< "b" ] && echo less
[ 3 -lt 10 ] && [ 10 -ge 10 ] && [ 1 -ne 2 ] && echo nums
[ -r fruits.txt -a -s fruits.txt ] && echo readable
test ! -f missing && echo not
[[ abc =~ ^a(.)c$ ]] && echo ${BASH_REMATCH[1]}
[[ "a b" == "a b" ]] && echo same
[[ abc == *b* && abc != x* ]] && echo match
[[ -z $undefined || -n x ]] && echo ok
[[ 10 -gt 9 ]] && echo gt
[[ a < b ]] && echo lt
[ ]; echo $?
[ x ]; echo $?
[ 1 -eq x ]; echo $?
(cd src && ls); ls -d src
cd src && pwd | sed 's|.*/||'
cd missing; echo $?
pushd src > /dev/null; ls main.py; popd > /dev/null; ls -d src
select_test() { :; }; type -t select_test
type -t cd ls if
command -v cd
eval 'echo evaluated'
eval "x=5; echo \$x"
x='echo hi'; $x
trap 'echo bye' EXIT; echo hi
sleep 0; echo $?
bash -c 'echo sub; exit 3'; echo $?
bash script.sh arg; echo $?
source script.sh
. ./script.sh x y
time true 2>/dev/null; echo $?
getopts ab: o -a; echo $o
while getopts "ab:" o -a -b val; do echo $o $OPTARG; break; done
seq 3 | while read n; do echo "n=$n"; done
printf '%s\n' a b c | while read -r l; do [ $l = b ] && break; echo $l; done
while IFS=, read -r n a c; do echo "$c:$n"; done < people.csv
n=0; while read -r _; do n=$((n+1)); done < fruits.txt; echo $n
yes | head -3
true &&⏎echo continued
echo a |⏎cat
if true⏎then⏎echo multi⏎fi
f()⏎{⏎echo body⏎}⏎f
# comment⏎echo after
for i in 1 2⏎do⏎echo $i⏎done
echo one \⏎two
wait; echo $?
exec echo replaced; echo never
return 2>/dev/null; echo $?
break; echo after
shift 5; echo $?
umask
""",
    "printf": r"""
printf '%s %d %x %o\n' a 10 255 8
printf '%5s|%-5s|%05d|%.2f\n' a b 42 3.14159
printf '%s\n' a b c
printf '%s-%s\n' a b c
printf 'no newline'
printf '%%\n'
printf '%c%c\n' abc def
printf '%q\n' "a b" 'c$d' "it's"
printf '%b\n' 'a\tb'
printf '\x41\102\n'
printf '%d\n' 0x10 010
printf '%e\n' 12345.678
printf '%g\n' 0.0001 1000000
printf '%s\n'
printf '%d\n' abc; echo $?
printf '%*d\n' 5 42
printf '%.3s\n' abcdef
printf '%+d % d\n' 5 5
printf '%u\n' 3
printf '%X\n' 255
printf '%s\t%s\n' k v | cut -f2
printf '%(%Y)T\n' 0
printf -- '-x\n'
printf '%i\n' 7
printf '%s %s\n' one
""",
    "read": r"""
read x; echo "[$x]"
read a b; echo "$b|$a"
read -r line; echo $line; cat | wc -l
cat | wc -l
wc -l
sort
grep alpha
head -n 1
tail -n 1
while read name n; do echo "$n $name"; done
awk '{s+=$2} END {print s}'
sed -n 2p
cut -d' ' -f1 | sort -u
tr a-z A-Z
mapfile -t a; echo ${#a[@]}
read -n 3 x; echo $x
read -d ' ' x; echo "$x"
read -a w; echo ${w[1]}
IFS= read -r x; echo "$x"
xargs echo
xargs -n 2 echo
xargs -I{} echo "<{}>"
cat - fruits.txt | wc -l
cat > saved; wc -l saved
tee copy | head -1; wc -l < copy
read -p prompt x; echo $x
echo piped | cat
paste - -
nl
rev
uniq
wc
wc -w
read x < fruits.txt; echo $x; read y; echo $y
if read x; then echo got $x; fi
f() { read q; echo "f:$q"; }; f; f
""",
    "grep": r"""
grep apple fruits.txt
grep -c apple fruits.txt
grep -v apple fruits.txt
grep -i banana fruits.txt
grep -n apple fruits.txt
grep -l TODO src/*.py
grep -L TODO src/*.py
grep -r TODO src | sort
grep -rn TODO src | sort
grep -rl TODO . | sort
grep -rc TODO src | sort
grep -rh TODO src | sort
grep -o 'a[pn]' fruits.txt
grep -w fig fruits.txt
grep -x apple fruits.txt
grep -E 'apple|fig' fruits.txt
grep -E '^(a|b)' fruits.txt
grep -F '.' config.ini
grep 'a.*a' fruits.txt
grep '^$' fruits.txt | wc -l
grep -A1 cherry fruits.txt
grep -B1 cherry fruits.txt
grep -C1 cherry fruits.txt
grep -m1 apple fruits.txt
grep -q apple fruits.txt; echo $?
grep zzz fruits.txt; echo $?
grep apple missing; echo $?
grep -s apple missing; echo $?
grep -e apple -e fig fruits.txt
grep -H apple fruits.txt
grep -h apple fruits.txt sorted1
grep apple fruits.txt sorted1
grep -c apple fruits.txt sorted1
grep -n '' sorted1
grep '[0-9]\{2,\}' numbers.txt
grep -E '[0-9]{2,}' numbers.txt
grep -P '\d+' numbers.txt
grep -P '(?<=port )=' config.ini
grep -oE '[0-9]+ms' app.log | head -3
grep -vE '^(#|$)' config.ini
grep -in 'BANANA' fruits.txt
grep -rn --include='*.py' def src | sort
grep -r --exclude-dir=deep TODO src | sort
grep -rn --include=*.md words . | sort
grep -nr 'class ' src | cut -d: -f1,2 | sort
grep -e -1 numbers.txt
grep -- -1 numbers.txt
grep -c '' empty
grep a empty; echo $?
grep '\bdef\b' src/main.py
grep -E '\<def\>' src/main.py
grep -ow 'two' docs/notes.md
grep été utf8.txt
grep -a one crlf.txt | wc -c
grep -b fig fruits.txt
grep -f sorted1 fruits.txt
grep '[[:upper:]]' fruits.txt
grep -no a fruits.txt | head -3
grep --color=never fig fruits.txt
grep -A1 apple fruits.txt
grep 'a\|f' fruits.txt
grep -z apple fruits.txt | wc -c
egrep 'fig|date' fruits.txt
fgrep . config.ini; echo $?
grep -rnw TODO src | sort
grep -i -c ERROR app.log
grep -E 'took [5-9][0-9]ms' app.log | wc -l
grep '(' src/main.py
grep -E '\(' src/main.py
grep 'a+' fruits.txt; echo $?
grep -E '(a)\1' fruits.txt; echo $?
grep 'p\{2\}' fruits.txt
grep -lr 'def' src | sort
grep -e; echo $?
grep; echo $?
""",
    "sed": r"""
sed 's/a/A/' fruits.txt
sed 's/a/A/g' fruits.txt
sed 's/a/A/2' fruits.txt
sed -n 2p fruits.txt
sed -n 2,4p fruits.txt
sed -n '$p' fruits.txt
sed 2d fruits.txt
sed '/apple/d' fruits.txt
sed -n '/apple/p' fruits.txt
sed '/^$/d' fruits.txt
sed -e 's/a/1/' -e 's/b/2/' fruits.txt
sed 's/a/1/;s/b/2/' fruits.txt
sed -E 's/(a)(p+)/[\1\2]/' fruits.txt
sed 's/\(a\)p/<\1>/' fruits.txt
sed 's|/|-|g' <<< a/b/c
sed 's/apple/& &/' fruits.txt
sed 's/A/x/I' fruits.txt
sed -i 's/fig/FIG/' fruits.txt; grep FIG fruits.txt
sed '1i\top' sorted1
sed '$a\end' sorted1
sed '2c\changed' sorted1
sed -n '/b/,/d/p' sorted1
sed '1~2d' sorted1
sed '2q' fruits.txt
sed = sorted1
sed -n '$=' fruits.txt
sed 'y/abc/ABC/' fruits.txt
sed '/b/!d' sorted1
sed -n '2{p;q}' fruits.txt
sed 'N;s/\n/ /' sorted1
sed ':a;N;$!ba;s/\n/,/g' sorted1
sed 's/.*/\U&/' sorted1
sed 's/\s\+$//' docs/notes.md
sed -E 's/^([a-z]+) = (.*)$/\2=\1/' config.ini
sed 's/x/y/' missing; echo $?
sed -n 'p' crlf.txt | wc -c
sed 's/\r$//' crlf.txt | wc -c
sed '1!G;h;$!d' sorted1
sed 's/a/\n/' sorted1
sed '/a/s//Z/' sorted1
sed -n '/ERROR/{s/.*ERROR //;p}' app.log | head -2
sed 10q app.log | wc -l
sed --expression='s/a/b/' sorted1
sed 's/[aeiou]//g' sorted1
sed -s -n 1p sorted1 sorted2
sed 5,7d fruits.txt
sed '3,$d' fruits.txt
sed '/apple/,+1d' fruits.txt
sed 'bad'; echo $?
sed 's/a/b/w out' sorted1; cat out
sed 's/\t/,/g' tabs.tsv
sed 'G' sorted1 | head -3
sed '/x/r sorted1' one/x.txt
sed 's/a/b/p' sorted1
sed -n 's/a/b/p' sorted1
sed 's#one#two#' crlf.txt | tr -d '\r'
""",
    "awk": r"""
awk '{print $1}' app.log | head -2
awk -F, '{print $2}' people.csv
awk -F, 'NR>1 {print $1, $3}' people.csv
awk 'END {print NR}' fruits.txt
awk '{print NF}' docs/notes.md
awk '/ERROR/ {n++} END {print n}' app.log
awk '{s+=$1} END {print s}' numbers.txt
awk 'BEGIN {print 1/3}'
awk 'BEGIN {printf "%.2f %5d|%-5s|\n", 3.14159, 42, "x"}'
awk '{c[$1]++} END {for (k in c) print k, c[k]}' fruits.txt | sort
awk -v x=5 'BEGIN {print x*2}'
awk 'length($0) > 5' fruits.txt
awk 'NR==2' fruits.txt
awk 'NR>=2 && NR<=3' fruits.txt
awk '{print toupper($0)}' sorted1
awk '{print substr($0,1,3)}' fruits.txt
awk '{gsub(/a/,"A"); print}' fruits.txt
awk '{sub(/a/,"A")}1' fruits.txt
awk -F: '{print $NF}' <<< a:b:c
awk '{n=split($0,a,""); print n}' sorted1
awk 'BEGIN {while (i<3) print i++}'
awk 'BEGIN {for (i=0;i<3;i++) print i}'
awk '!seen[$0]++' fruits.txt
awk '{print NR": "$0}' sorted1
awk 'BEGIN{OFS="-"} {print $1,$2}' docs/notes.md
awk '{$2="X"; print}' docs/notes.md
awk -F'\t' '{print $3}' tabs.tsv
awk '$2 ~ /words/' docs/notes.md
awk '$1 > 9' numbers.txt
awk 'BEGIN {print index("hello","l"), length("abc"), match("foobar",/o+/)}'
awk 'BEGIN {print tolower("ABC") sprintf("%03d", 7)}'
awk 'function f(x) {return x*x} BEGIN {print f(4)}'
awk '{a[NR]=$0} END {for (i=NR;i>0;i--) print a[i]}' sorted1
awk 'BEGIN {x["a"]; if ("a" in x) print "in"; delete x["a"]; print length(x)}'
awk '/b/,/d/' sorted1
awk 'BEGIN {print 1==1.0, "a"<"b", 2^3, 7%3}'
awk '{print > "out_" $1}' sorted1; cat out_a
awk 'BEGIN {"echo cmd" | getline x; print x}'
awk 'END {print $0}' sorted1
awk 'FNR==1 {print FILENAME}' sorted1 sorted2
awk 'NR==FNR {a[$1]; next} $1 in a' sorted1 sorted2
awk 'BEGIN {exit 3}'; echo $?
awk '{print $0 | "sort -r"}' sorted1
awk 'BEGIN {printf "%s %s\n", "a", "b"}'
awk -F'[ =]+' '/port/ {print $2}' config.ini
awk '{max = ($1 > max) ? $1 : max} END {print max}' numbers.txt
awk 'BEGIN {print substr("hello", 2, 3), substr("hi", 0)}'
awk '{ if ($1 % 2 == 0) print "even"; else print "odd" }' numbers.txt
awk 'BEGIN { print length() }' < /dev/null
awk '{print $1 $2}' docs/notes.md
awk 'BEGIN {print -3 % 2, int(3.9), int(-3.9)}'
awk 'bad {'; echo $?
""",
    "sort": r"""
sort fruits.txt
sort -r fruits.txt
sort -n numbers.txt
sort -nr numbers.txt
sort -u fruits.txt
sort -f fruits.txt
sort -t, -k2 people.csv
sort -t, -k2,2n -k1,1r people.csv
sort -k2 docs/notes.md
sort -h <<< $'1K\n1M\n10'
sort -V <<< $'v1.10\nv1.9\nv1.2'
sort -c sorted1; echo $?
sort -c numbers.txt 2>/dev/null; echo $?
sort sorted1 sorted2
sort -m sorted1 sorted2
sort -o out numbers.txt; cat out
sort -s -k1,1 docs/notes.md
sort -b fruits.txt | head -2
sort -z fruits.txt | wc -c
sort -R sorted1 | wc -l
sort -M <<< $'Mar\nJan'
sort -g <<< $'1e2\n5\n1e1'
sort fruits.txt | uniq
sort fruits.txt | uniq -c
sort fruits.txt | uniq -d
sort fruits.txt | uniq -u
sort fruits.txt | uniq -i
sort fruits.txt | uniq -c | sort -rn | head -2
uniq -c fruits.txt
uniq -f 1 docs/notes.md
awk '{print $2}' app.log | sort | uniq -c | sort -rn
cut -d' ' -f3 app.log | sort | uniq -c
sort missing; echo $?
sort utf8.txt
sort -k1.2 sorted1
sort -rn -k2
sort -k2 -n
sort -t' ' -k2,2n
""",
    "cut": r"""
cut -d, -f1 people.csv
cut -d, -f1,3 people.csv
cut -d, -f2- people.csv
cut -d, -f-2 people.csv
cut -c1-3 fruits.txt
cut -c2 fruits.txt
cut -c-2 sorted1
cut -b1-2 fruits.txt
cut -f1 tabs.tsv
cut -f2,3 --output-delimiter=: tabs.tsv
cut -d, -f1 -s fruits.txt
cut -d: -f1 fruits.txt
cut --complement -d, -f2 people.csv
cut -c1 utf8.txt
cut; echo $?
tr a-z A-Z < sorted1
tr -d a < fruits.txt
tr -s p < fruits.txt
tr '\n' ' ' < sorted1
tr -cd 'a-z\n' < docs/notes.md
tr -d '\r' < crlf.txt
tr '[:lower:]' '[:upper:]' < sorted1
tr -c 'a-z' '_' < sorted1; echo
tr abc x < sorted1
tr -s '\n' < docs/notes.md; echo
tr 'a-c' 'd-f' < sorted1
echo "a  b" | tr -s ' '
tr; echo $?
head -n 2 fruits.txt
head -2 fruits.txt
head -n -2 fruits.txt
head -c 5 fruits.txt; echo
head sorted1 sorted2
head -q -n1 sorted1 sorted2
tail -n 2 fruits.txt
tail -2 fruits.txt
tail -n +3 fruits.txt
tail -c 5 fruits.txt
tail sorted1 sorted2
head -n 0 fruits.txt
head missing; echo $?
head -3 app.log | tail -1
cat fruits.txt | head | tail -3
wc fruits.txt
wc -l fruits.txt
wc -w docs/notes.md
wc -c fruits.txt
wc -m utf8.txt
wc -L fruits.txt
wc -l *.txt
wc -l < fruits.txt
cat fruits.txt | wc
wc sorted1 sorted2
wc -lc fruits.txt
wc missing; echo $?
wc empty
cat fruits.txt | wc -l
""",
    "find": r"""
find . -name '*.py' | sort
find . -type d | sort
find . -type f -name '*.md' | sort
find src -type f | sort
find . -maxdepth 1 -type f | sort
find . -name '*.txt' -not -path './one/*' | sort
find . -iname 'FRUITS*'
find . -empty | sort
find . -type f -size +1k | sort
find . -type f -size -1k | sort | head -3
find . -name '*.py' -exec grep -l TODO {} \; | sort
find . -name '*.py' -exec wc -l {} + | tail -1
find . -name '*.py' -print0 | xargs -0 wc -l | tail -1
find . \( -name '*.py' -o -name '*.md' \) -type f | sort
find src -mindepth 2 | sort
find . -path '*deep*' | sort
find . -name x.txt -delete; ls one two
find . -type f | wc -l
find missing; echo $?
find src -name '*.py' -printf '%f\n' | sort
find . -name src -prune -o -name '*.md' -print | sort
find . -type f -name '*.py' | xargs grep -n def | sort
find . -regex '.*\.md' | sort
find src | sort
find . -name '.*' | sort
find fruits.txt
find . -newer sorted1 -name nothing
find . ! -name '*.*' -type f | sort
find src -type f -exec basename {} \; | sort
find . -type f -name '*.py' -exec sh -c 'echo "$1"' _ {} \; | sort
find . -maxdepth 1 -name '*.ini' -o -maxdepth 1 -name '*.csv' | sort
find . -type l
find . -perm -u+x -type f
find docs -name '*.md' | while read -r f; do wc -l "$f"; done | sort
""",
    "xargs": r"""
echo a b c | xargs
echo a b c | xargs -n1 echo
printf 'a\nb\n' | xargs -I{} echo x{}y
printf 'a b\nc\n' | xargs -d '\n' -n1 echo
ls *.txt | xargs wc -l
printf 'a\0b\0' | xargs -0 -n1 echo
echo | xargs echo none
echo | xargs -r echo none
printf '%s\n' 1 2 3 | xargs -n2
echo "a 'b c' d" | xargs -n1
echo fruits.txt | xargs cat | head -1
echo x | xargs -t echo 2>/dev/null
seq 5 | xargs -L2 echo
echo a | xargs false; echo $?
echo a | xargs nosuchcmd 2>/dev/null; echo $?
printf 'a\nb\n' | xargs -P2 -n1 echo | sort
echo 1 2 3 | xargs -n 1 bash -c 'echo got $0'
ls | xargs -I F basename F .txt | sort | head -3
""",
    "text": r"""
tee out < sorted1 > /dev/null; cat out
echo b | tee -a sorted1 > /dev/null; tail -1 sorted1
diff sorted1 sorted2; echo $?
diff sorted1 sorted1; echo $?
diff -q sorted1 sorted2; echo $?
diff -u sorted1 sorted2 | tail -n +3
diff -u sorted1 sorted2 | grep '^[+-][^+-]'
diff -r one two
diff missing sorted1 2>/dev/null; echo $?
diff -i fruits.txt fruits.txt && echo same
diff -w sorted1 sorted2 | head -2
diff -y sorted1 sorted2 | wc -l
diff --brief one/x.txt two/x.txt
diff <(echo a) <(echo b)
diff sorted1 - < sorted2 | head -1
comm sorted1 sorted2
comm -12 sorted1 sorted2
comm -23 sorted1 sorted2
comm -3 sorted1 sorted2
paste sorted1 sorted2
paste -d, sorted1 sorted2
paste -s sorted1
paste -sd+ numbers.txt | bc
paste -sd, sorted1
join sorted1 sorted2
join -t, -1 1 -2 1 <(sort people.csv) <(sort people.csv) | head -2
rev sorted1
rev fruits.txt | head -2
seq 5
seq 2 4
seq 1 2 9
seq -s, 3
seq -w 8 10
seq 3 -1 1
seq 0.5 0.5 1.5
basename /a/b/c.txt
basename /a/b/c.txt .txt
basename -s .txt a.txt b.txt
basename a/
dirname /a/b/c.txt
dirname c.txt
dirname a/b c/d
tac sorted1
nl sorted1
nl -ba docs/notes.md
cat -n sorted1
cat -b docs/notes.md
cat -A crlf.txt
cat -E sorted1
cat -T tabs.tsv
cat -s docs/notes.md
cat -v crlf.txt
cat sorted1 sorted2
cat missing sorted1; echo $?
fold -w 3 fruits.txt
fold -s -w 8 docs/notes.md
expand tabs.tsv
unexpand -a <<< "        x"
column -t -s, people.csv
column -t docs/notes.md
fmt -w 10 docs/notes.md
od -c sorted1 | head -1
od -An -tx1 sorted1
xxd sorted1
xxd -p sorted1
base64 sorted1
base64 sorted1 | base64 -d
md5sum sorted1
sha256sum sorted1
sha1sum sorted1 | cut -d' ' -f1
cksum sorted1
cmp sorted1 sorted2; echo $?
cmp -s sorted1 sorted2; echo $?
split -l 2 sorted1 part_; ls part_*; cat part_aa
expr 1 + 2
expr 5 \* 3
expr length hello
expr substr hello 2 3
expr abc : 'a\(.\)c'
expr 1 = 2; echo $?
bc <<< "1+2*3"
bc <<< "scale=2; 10/3"
bc -l <<< "s(0)"
echo "2^10" | bc
factor 12
shuf -n 2 sorted1 | wc -l
tsort <<< "a b"
strings sorted1
printenv HOME | wc -l
env | grep -c '^HOME='
date -u -d @0 +%Y-%m-%d
date -u -d '2026-05-04' +%j
jq -r .name data.json
jq '.list | length' data.json
jq -c .list data.json
touch a b; ls a b
mkdir -p d/e/f; find d | sort
cp fruits.txt copy.txt; cmp fruits.txt copy.txt; echo $?
cp -r src src2; ls src2
mv fruits.txt moved; ls moved
rm -r src; ls -d src; echo $?
rmdir one; echo $?
rm missing; echo $?
rm -f missing; echo $?
ln -s fruits.txt link; cat link | head -1; readlink link
ls
ls -1
ls -a
ls -A
ls src docs
ls -d */
ls *.txt
ls -r
ls missing; echo $?
ls -R src
ls -p
ls -F
ls src/*.py | wc -l
ls -1 | wc -l
ls | head -3
ls | sort -r | head -2
ls -l fruits.txt | awk '{print $5}'
ls -l fruits.txt | cut -c1-10
ls -la | head -1 | cut -d' ' -f1
ls -S *.txt | head -1
stat -c %s fruits.txt
stat -c '%n %s %F' fruits.txt
du -b fruits.txt
realpath --relative-to=. src/../fruits.txt
readlink -f fruits.txt | sed 's|.*/||'
file fruits.txt
file -b data.json
test -x script.sh; echo $?
chmod +x script.sh; ./script.sh q; echo $?
mktemp | wc -l
true --help | head -1
sleep 0.01; echo slept
timeout 5 echo ok
which nosuch; echo $?
yes | head -2
nproc | wc -l
whoami | wc -l
truncate -s 3 fruits.txt; cat fruits.txt
dd if=sorted1 bs=2 count=1 2>/dev/null
head -c 3 /dev/zero | od -An -tx1
install -m 644 sorted1 inst; cat inst | head -1
cat *.txt | wc -l
tac fruits.txt | head -1
numfmt --to=iec 2048
pr -t sorted1 | head -1
hexdump -C sorted1 | head -1
gzip -c sorted1 | gzip -dc
tar cf t.tar src && tar tf t.tar | sort
sum sorted1 | wc -l
echo abc | md5sum | cut -c1-8
printf 'a,b\n' | tr , '\n'
wc -l $(find . -name '*.py' | sort) | tail -1
echo $(ls src)
echo "$(< sorted1)"
x=$(<sorted1); echo $x
""",
    "agents": r"""
grep -rn "def " --include=*.py . | sort | head -20
grep -rn "TODO\|FIXME" . | sort
grep -rnE "TODO|FIXME" --include="*.py" src | awk -F: '{print $1": "$2}' | sort
find . -name "*.py" -not -path "*/deep/*" | xargs grep -ln "def" | sort
find . -type f -name "*.py" | xargs wc -l | sort -n | tail -1
find . -type f | sed 's/.*\.//' | sort | uniq -c | sort -rn | head -3
ls -1 src | wc -l
for f in $(find . -name '*.md' | sort | tr ' ' '?'); do echo "== $f"; head -1 "$f"; done
find . -name '*.md' -print0 | while IFS= read -r -d '' f; do echo "$f: $(wc -l < "$f")"; done | sort
cat src/main.py | sed -n '4,6p'
sed -n '/def main/,/return/p' src/main.py
awk '/def /{print FILENAME":"FNR": "$0}' src/*.py
grep -c "" src/*.py
grep -n "class\|def" src/main.py | cut -d: -f1 | tr '\n' ' '
cat config.ini | awk -F' *= *' '/^\[/{s=$0} /port/{print s,$2}'
grep -A3 '\[db\]' config.ini | grep port | cut -d= -f2
cat data.json | jq '.list[2]'
jq -r 'keys[]' data.json
jq -r '.list | map(tostring) | join(",")' data.json
awk '{print $2}' app.log | sort | uniq -c | awk '{print $2": "$1}'
grep ERROR app.log | awk '{print $1}' | sort | uniq -c | sort -k1,1nr -k2 | head -3
grep -oE 'took [0-9]+' app.log | awk '{s+=$2; n++} END {printf "%.1f\n", s/n}'
awk -F'took ' '{split($2,a,"ms"); if (a[1]>80) print $0}' app.log
head -1 people.csv | tr ',' '\n' | nl
awk -F, 'NR>1 && $3=="London" {s+=$2; n++} END {print s/n}' people.csv
tail -n +2 people.csv | sort -t, -k2 -n | cut -d, -f1
cut -d, -f3 people.csv | sort | uniq -c | sort -rn
while IFS=, read -r name age city; do [ "$age" -gt 40 ] 2>/dev/null && echo "$name"; done < people.csv
diff <(cut -d' ' -f1 docs/notes.md | sort) <(sort sorted1)
comm -13 <(sort -u fruits.txt) <(printf 'apple\nkiwi\n')
[ -f missing.txt ] && cat missing.txt || echo "no such file"
if grep -q "port" config.ini; then echo "has port"; else echo "no port"; fi
test -d src && echo "src exists" || echo "missing"
cat a.txt 2>/dev/null; cat fruits.txt | head -n1
for i in $(seq 1 3); do printf "%02d " $i; done; echo
total=0; for n in $(cat numbers.txt); do total=$((total + n)); done; echo $total
x=$(grep -c apple fruits.txt); if [ "$x" -gt 1 ]; then echo "many: $x"; fi
echo "$(wc -l < fruits.txt) lines, $(wc -w < fruits.txt) words"
files=(src/*.py); echo "${#files[@]} ${files[0]}"
for f in src/*.py; do b=$(basename "$f" .py); echo "$b"; done
for f in *.txt; do echo "${f%.txt}: $(wc -c < "$f")"; done
grep -l apple *.txt | while read -r f; do echo "found in $f"; done
echo "a,b,c" | tr ',' '\n' | while read x; do echo "item $x"; done
printf '%s\n' *.txt | sed 's/\.txt$//' | paste -sd' '
cat fruits.txt | sort | uniq -c | sort -rn | awk '$1>1{print $2}'
sed -i 's/localhost/127.0.0.1/' config.ini && grep host config.ini
sed -i '/^$/d' fruits.txt; wc -l < fruits.txt
cp config.ini config.bak && sed -i 's/5432/5433/' config.ini; diff config.bak config.ini
mkdir -p out/x && cp src/*.py out/x && ls out/x
mv src/util.py src/helpers.py && ls src
rm -rf docs && ls -d docs 2>/dev/null || echo gone
cat > new.py <<'EOF'⏎import sys⏎print(sys.argv)⏎EOF⏎wc -l new.py
cat <<EOF > t.txt⏎line $((1+1))⏎$(echo cmd)⏎EOF⏎cat t.txt
echo 'print(1)' | tee -a src/main.py | wc -c; tail -1 src/main.py
head -c 20 app.log | od -c | head -2
cat crlf.txt | od -An -c | head -2
file utf8.txt | grep -c UTF-8
stat -c '%s' app.log
du -ab docs | wc -l
ls -la src | tail -n +4 | awk '{print $NF}'
ls -lh app.log | awk '{print $5}'
ls -lS src | awk 'NR>1{print $NF}'
ls -ld src | cut -c1
ls src/nope 2>&1; echo $?
ls -1 src | grep -v deep
ls -d src/*/
ls -A1 | head -2
ls nope src 2>/dev/null
ls -R src | grep ':$'
ls fruits.txt src
ls -F src
ls -1p | grep -v /
ls -rS *.txt | head -2
ls --all | head -3
ls -v <<< x | head -2
find . -type d -empty
find . -name '*.log' -exec tail -1 {} \;
find src -name '*.py' -exec sh -c 'echo "$(basename {})"' \; | sort
find . -type f -name "*.txt" | xargs -I{} sh -c 'echo {} $(wc -l < {})' | sort
find . -maxdepth 2 -name '*.py' | xargs -n1 dirname | sort -u
find . -type f -size 0
find . -name '*.txt' | xargs grep -l apple | xargs -n1 basename
grep -rn "helper" . --include="*.py" | cut -d: -f1 | sort -u
grep -v '^\s*#' config.ini | grep -v '^\s*$'
grep -E '^\s+return' -r src | sed 's/^\([^:]*\):.*return/\1/' | sort
grep -Rn "VALUE" src
grep -rnI "def" src | wc -l
grep -rn -B1 -A1 'class' src | sort
grep --line-number hello src/main.py
grep --count --ignore-case apple fruits.txt
grep -nE '^(class|def) ' src/*.py
grep -rL def src | sort
grep -cv '^$' fruits.txt
grep -m 2 -n a fruits.txt
grep -rn 'x + 1' src | sort
grep -rnF 'print(' src | sort
grep -E 'WARN.*(api|db)' app.log | tail -1
grep -P '^\w+\s' docs/notes.md
grep -oP 'took \K\d+' app.log | sort -n | tail -1
grep -n 'def \w\+' src/main.py
grep 'INFO\|WARN' app.log | wc -l
sed -e 's/^/> /' sorted1
sed 's/^[ \t]*//' src/util.py
sed -n '$!p' sorted1
sed -E 's/([0-9]+)ms/\1 ms/' app.log | head -1
sed '/^#/d;/^$/d' docs/notes.md
sed -n '2,$p' people.csv | wc -l
sed "s/Ada/$USER_X/" people.csv | sed -n 2p
sed 's/\(.*\),\(.*\),\(.*\)/\3 \1/' people.csv
sed -n '/\[web\]/,$p' config.ini
sed '0,/apple/s//APPLE/' fruits.txt
sed -n 'l' tabs.tsv
sed '/b/{n;d}' sorted1
sed '/b/a after' sorted1
sed '/b/i\\  before' sorted1
sed '$!N;P;D' sorted1
sed -z 's/\n/,/g' sorted1
sed 's/a/b/;ta;s/$/!/;:a' sorted1
sed 's/./\u&/' sorted1
sed -n '/a/{=;p}' sorted1
sed '/^$/N;/^\n$/D' docs/notes.md
sed 's/[^,]*,//2' people.csv
awk 'NR%2==0' sorted1
awk 'BEGIN{FS=","; OFS="\t"} {print $1,$2}' people.csv
awk '{a[$1]=a[$1] " " NR} END {for (k in a) print k a[k]}' sorted1 | sort
awk 'length > max {max=length; line=$0} END {print line}' fruits.txt
awk '{for (i=NF;i>0;i--) printf "%s ", $i; print ""}' docs/notes.md
awk -v n=3 'NR==n{print; exit}' fruits.txt
awk -v OFS=, '{$1=$1; print}' docs/notes.md
awk 'BEGIN{RS=""} {print NR": "$1}' docs/notes.md
awk '/^\[/{s=substr($0,2,length($0)-2); next} NF{print s"."$1}' config.ini
awk 'NR>1{split($0,f,","); print f[1]}' people.csv
awk '{printf "%-10s|%5d\n", $2, NR}' app.log | head -2
awk '{ $NF=""; print }' docs/notes.md
awk 'BEGIN { x = "A"; printf("%s%c\n", x, 66) }'
awk '{ print NR, $0 }' OFS=': ' sorted1
awk -f /dev/stdin sorted1 <<< '{print "x" $0}'
awk 'BEGIN { printf "%d%%\n", 50 }'
awk '{sum[$2]+=NR} END{for(k in sum) print k, sum[k]}' app.log | sort
awk 'match($0,/took [0-9]+/) {print substr($0,RSTART+5,RLENGTH-5)}' app.log | head -2
awk '$3 == "api" && $2 == "ERROR"' app.log | wc -l
awk 'NF' docs/notes.md
awk '{ gsub(/[aeiou]/, "<&>"); print }' sorted1
awk 'BEGIN { "date +%Y" | getline y; print (y > 2000) }'
awk 'BEGIN{while((getline l < "sorted1")>0) print "r:" l}'
awk 'BEGIN { print toupper(substr("abc", 1, 1)) substr("abc", 2) }'
awk 'BEGIN { a = 5; a += 3; print a ^ 2, a % 3, a++ + ++a }'
awk 'BEGIN { do { i++ } while (i < 5); print i }'
awk '{ switch_ = $1; if (switch_ == "a") next; print }' sorted1
awk 'END{print NR, FILENAME}' sorted1 sorted2
sort -t, -k3,3 -k2,2nr people.csv
sort -k3 app.log | head -1
sort -t= -k2 config.ini | tail -1
sort --reverse --numeric-sort numbers.txt | head -1
sort -u -t, -k3,3 people.csv
sort -n -u numbers.txt
sort -k2,2 -k1,1 docs/notes.md
uniq -c <(sort fruits.txt) | sort -k1nr -k2 | head -2
tr -d '[:space:]' < docs/notes.md; echo
tr -s ' ' '\n' < docs/notes.md | sort | uniq -c | sort -k1nr -k2 | head -3
tr 'A-Za-z' 'N-ZA-Mn-za-m' < sorted1
tr -d '[:punct:]' < data.json
echo "hello world" | tr -d 'lo'
cut -c-10 app.log | uniq | head -2
cut -d' ' -f2- app.log | head -1
cut -d: -f2 <<< "key: value"
head -n5 app.log | tail -n2
tail -n1 app.log | cut -d' ' -f2
tail -c 20 docs/notes.md
head -20 app.log | tail -5 | wc -l
cat app.log | tail -n +58
wc -l app.log fruits.txt | tail -1
wc -lwc fruits.txt
printf '%s: %s\n' a 1 b 2
printf '%-8s%8s\n' left right
printf '[%s]\n' "$(cat empty)"
printf '%.2f\n' 2.345 1
printf '%s\n' "${PATH:0:0}x"
echo $((RANDOM < 32768))
echo ${#PATH} | grep -c .
date +%Y | grep -cE '^20[0-9]{2}$'
seq 10 | paste - - | head -2
seq 1 5 | awk '{s+=$1} END {print s}'
seq 5 | tac | tr '\n' ' '
seq 3 | xargs -I{} echo "n{}"
seq 1 3 | while read i; do echo $((i*i)); done
echo "1 2 3" | xargs -n1 | paste -sd+ | bc
echo "scale=3; 22/7" | bc
expr 7 % 3
echo 'a b c' | { read x y; echo "$y $x"; }
echo abc | sed 's/./&\n/g' | head -2
echo "path/to/file.txt" | awk -F/ '{print $NF}'
basename $(dirname src/deep/er/mod.py)
realpath src/../fruits.txt | xargs basename
nl -w2 -s'. ' sorted1
rev <<< hello
fold -w5 <<< abcdefghij
base64 <<< hello
base64 -d <<< aGVsbG8K
md5sum < sorted1
sha256sum sorted1 | cut -c1-10
xxd -l 4 sorted1
od -An -tu1 sorted1
column -s, -t people.csv | head -2
join <(sort sorted1) <(sort sorted2) | wc -l
tac app.log | grep -m1 ERROR
cat -n src/util.py
cat src/main.py src/util.py | grep -c def
cat fruits.txt - <<< extra | tail -1
echo one; echo two >&2; echo three
exit_code() { return 42; }; exit_code; echo "code $?"
(cd src; ls | head -1); pwd | xargs basename > /dev/null; echo ok
cd src/deep && ls && cd - > /dev/null && ls -d docs
a=1; b=2; [ $a -lt $b ] && echo less || echo more
[[ "foo.py" == *.py ]] && echo python
[[ "v1.2.3" =~ ^v([0-9]+)\.([0-9]+) ]] && echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
case "file.tar.gz" in *.tar.gz) echo tarball;; *.gz) echo gz;; esac
declare -A c; while read -r _ l _; do ((c[$l]++)); done < app.log; for k in ERROR INFO WARN; do echo "$k ${c[$k]}"; done
arr=($(sort -n numbers.txt)); echo "${arr[0]} ${arr[-1]} ${#arr[@]}"
mapfile -t a < <(grep -n a fruits.txt); printf '%s\n' "${a[@]:0:2}"
IFS=$'\n'; for l in $(cat docs/notes.md); do echo "<$l>"; done
f() { local IFS=,; echo "$*"; }; f a b c
f() { for a; do echo -n "$a;"; done; echo; }; f 1 2 3
max() { [ $1 -gt $2 ] && echo $1 || echo $2; }; max 3 7
fib() { if (( $1 < 2 )); then echo $1; else echo $(( $(fib $(($1-1))) + $(fib $(($1-2))) )); fi; }; fib 7
trap 'echo cleanup' EXIT; false; echo after
set -euo pipefail; cat fruits.txt | head -1; echo done
set -e; grep zzz fruits.txt || true; echo still
set -x; true 2>/dev/null; set +x; echo traced
cmd="ls src"; $cmd | head -1
eval "$(echo 'x=7')"; echo $x
unset x; echo "${x:-fallback}"; : "${y:=made}"; echo $y
read -r first < fruits.txt; echo $first
read -r a b _ <<< "one two three four"; echo "$a $b"
while read -r k v; do echo "$v=$k"; done <<< $'a 1\nb 2'
echo {src,docs}/*.* | tr ' ' '\n' | head -2
echo "${0##*/}" | grep -c .
timeout 2 sleep 0; echo $?
type ls > /dev/null && echo have
command -v grep > /dev/null && echo have grep
hash -r; echo $?
printenv NOPE; echo $?
env -i bash -c 'echo $FOO'
FOO=bar env | grep ^FOO
export A=1 B=2; env | grep -E '^(A|B)=' | sort
cat fruits.txt | grep -v '^$' | sort -u | head -3 | tr '\n' ',' | sed 's/,$/\n/'
cat app.log | cut -d' ' -f2 | sort | uniq -c | sort -nr | head -1 | awk '{print $2}'
cat src/*.py | grep -v '^$' | wc -l
tar czf s.tgz src && tar tzf s.tgz | grep -c py
gzip -k sorted1 && zcat sorted1.gz | head -1
split -n l/2 sorted1 h_ && cat h_aa
shuf -i 1-3 | sort
yes x | head -3 | paste -sd,
sleep 0.1 && echo waited
comm -12 <(sort sorted1) <(sort sorted2) | tr '\n' ' '
test "$(cat one/x.txt)" = x1 && echo equal
[ "$(ls | wc -l)" -gt 5 ] && echo plenty
ls | xargs -n1 | sort | head -2
echo "a:b:c" | cut -d: -f2 | tr a-z A-Z
echo done | cat -n | sed 's/^ *//'
""",
    "syntax": r"""
echo a &&
shopt -s extglob; echo !(*.txt)
echo a |
| echo a
a | | b
;; a
;
&& a
echo "a
echo 'a
echo $(a
echo ${a
echo `a
if true; then echo a
if true; echo a; fi
if true; then fi
then a
fi
done
for i in a b; echo $i; done
for; do :; done
while true; do done
case x in a) echo
case x a) echo;; esac
f()
f() echo a
{ echo a
( echo a
echo a )
()
cat <<
echo a >
echo a <
echo (a)
echo a(b)
[[ a == b
x=(1 2
x=(1;2)
a & & b
a ||| b
echo $(if)
echo $(echo a &&)
diff <(sort a
}
esac
do a; done
else a
function
a && ; b
a || ; b
a |; b
a;;b
((1+2
>
<
echo ok; echo "
echo ok && |
echo a; (
echo a b | (
{ }
{ echo a }
! | a
if a; then b; else fi
select x in a b; do
until false; done
[[ && a ]]
a b ()
""",
}


def chains() -> list[tuple[str, str]]:
    """Subject and text of each chain."""
    found = []
    for subject, text in CHAINS.items():
        lines = text.strip("\n").split("\n")
        joined: list[str] = []
        for line in lines:
            # A quote that is open goes on in the next line.
            if joined and subject == "quoting" and joined[-1] == 'echo "a' and line == 'b"':
                joined[-1] += "\n" + line
            else:
                joined.append(line)
        found += [(subject, line.replace("⏎", "\n")) for line in joined]
    return found
