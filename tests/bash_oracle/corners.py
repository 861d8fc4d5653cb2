r"""Scripts in which bash and a reader of bash are easily at odds: one a line, by kind.

`⏎` stands for a line end, `␍` for a carriage return, `␋` and `␌` for the vertical tab and the form feed. `PAYLOAD`
stands for a command that is denied. Where it is in quotes a script may well be harmless: what counts is that bash runs
it in some of them.
"""

# The seven kinds that were found by hand, each with its siblings.
KINDS: dict[str, str] = {
    "here-document end": r"""
cat <<E⏎hi⏎E ⏎x='$(PAYLOAD)'
cat <<E⏎hi⏎E &⏎x='$(PAYLOAD)'
cat <<E⏎hi⏎E ;⏎x='$(PAYLOAD)'
cat <<E⏎hi⏎E # end⏎x='$(PAYLOAD)'
cat <<E⏎hi⏎ E⏎x='$(PAYLOAD)'
cat <<E⏎hi⏎E | cat⏎x='$(PAYLOAD)'
cat <<-E⏎	hi⏎	E ⏎x='$(PAYLOAD)'
cat > README.md <<EOF⏎hi⏎EOF # end⏎x='$(PAYLOAD)'
cat <<'E'⏎hi⏎E ⏎`PAYLOAD`
""",
    "array placed": r"""
y='a[$(PAYLOAD)]'; z=([$y]=1)
y='a[$(PAYLOAD)]'; z+=([$y]=1)
y='a[$(PAYLOAD)]'; declare -a z=([$y]=1)
y='a[$(PAYLOAD)]'; declare -a "z=([$y]=1)"
x[0]='a[$(PAYLOAD)]'; z=([$x]=1)
y='a[$(PAYLOAD)]'; z=([y]=1)
y='a[$(PAYLOAD)]'; z[y]=1
y='a[$(PAYLOAD)]'; echo ${z[y]}
y='a[$(PAYLOAD)]'; echo ${#z[$y]} ${z[@]:y}
""",
    "integer variable": r"""
OPTIND='a[$(PAYLOAD)]'
w='a[$(PAYLOAD)]'; OPTIND=w
HISTCMD='a[$(PAYLOAD)]'
SRANDOM='a[$(PAYLOAD)]'
read OPTIND <<< 'a[$(PAYLOAD)]'
for OPTIND in 'a[$(PAYLOAD)]'; do :; done
SECONDS='a[$(PAYLOAD)]' true
: ${OPTIND:='a[$(PAYLOAD)]'}
printf -v RANDOM %s 'a[$(PAYLOAD)]'
getopts ab OPTIND 'a[$(PAYLOAD)]'
""",
    "escaped backquote": r"""
y=\`git\ commit\ --no-verify\ -qm\ x\`; echo ${y@P}
y=\`{git,commit,--no-verify}\`; echo ${y@P}
: ${x=a\[\`PAYLOAD\`\]}; echo $[x]
: ${x=a\[\`PAYLOAD\`\]}; echo $((x))
y='`PAYLOAD`'; echo "${y@P}"
y=$'\x60PAYLOAD\x60'; echo ${y@P}
y='\$(PAYLOAD)'; echo ${y@P}
""",
    "indirection": r"""
z=('a[$(PAYLOAD)]'); q=${!z}
z=(q 'a[$(PAYLOAD)]'); q=${!z[1]}
z='a[$(PAYLOAD)]'; echo ${!z}
z='a[$(PAYLOAD)]'; echo ${!z:-no} ${!z@}
set -- 'a[$(PAYLOAD)]'; echo ${!1} ${!#}
declare -n n='a[$(PAYLOAD)]'; echo $n
declare -n n=q; q='a[$(PAYLOAD)]'; echo $((n))
""",
    "integer by a built-in": r"""
declare -i q; printf -v q %s 'a[$(PAYLOAD)]'
declare -ia q; read -a q <<< 'a[$(PAYLOAD)]'
declare -i q; read q <<< 'a[$(PAYLOAD)]'
declare -i q; mapfile -t q <<< 'a[$(PAYLOAD)]'
declare -i q='a[$(PAYLOAD)]'
f() { local -i q; q='a[$(PAYLOAD)]'; }; f
typeset -i q; for q in 'a[$(PAYLOAD)]'; do :; done
declare -i q; q+='a[$(PAYLOAD)]'
printf -v 'a[$(PAYLOAD)]' %s x
read 'a[$(PAYLOAD)]' <<< x
unset 'a[$(PAYLOAD)]'
wait -p 'a[$(PAYLOAD)]'
""",
    "name of a file": r"""
rg foo *
sed -n 1p *
tar cf - *
sort *
git log *
git diff HEAD *
for f in *; do rg foo "$f"; done
git grep -l x | xargs sed -n 1p
rg -l x | xargs rg y
rg -l x | while read -r f; do rg y "$f"; done
rg y $(rg -l x)
rg foo [!a]*
set -- *; rg foo "$@"
x=*; rg foo $x
rg foo -- * && cat ./*
""",
}

# What else bash reads in a way of its own.
OTHERS: dict[str, str] = {
    "here-document": r"""
cat <<A <<B⏎$(ls)⏎A⏎`PAYLOAD`⏎B
cat <<'A' <<B⏎$(PAYLOAD)⏎A⏎b⏎B
x=$(cat <<E⏎)⏎E⏎); echo "$x"
x=$(cat <<'E'⏎a ' b )⏎E⏎) && ls
cat <<E"O"F⏎$(PAYLOAD)⏎EOF⏎ls
cat <<\E⏎`PAYLOAD`⏎E⏎ls
cat <<"E F"⏎$(PAYLOAD)⏎E F⏎ls
cat <<E⏎\$(PAYLOAD) \`PAYLOAD\` \\$(ls)⏎E
cat <<E⏎a\⏎E⏎E
cat <<''⏎$(PAYLOAD)⏎⏎ls
cat <<$E⏎$(ls)⏎$E
cat <<E; echo '⏎E⏎$(PAYLOAD)⏎'
cat <<-'E' | sort⏎	$(PAYLOAD)⏎	E⏎ls
cat <<E⏎${x:-'$(PAYLOAD)'}⏎E
cat <<'E'⏎$(PAYLOAD)
(cat <<E⏎a⏎E⏎)
if cat <<E; then ls; fi⏎a⏎E
cat <<E && cat <<'F'⏎a⏎E⏎$(PAYLOAD)⏎F
cat <<'E' # comment <<F⏎$(PAYLOAD)⏎E⏎ls
echo '<<E'⏎ls $((1<<E))⏎E
cat <<E\⏎F⏎$(ls)⏎EF
cat <<<E⏎ls⏎E
cat << 'E'⏎$(PAYLOAD)⏎E⏎cat << "E"⏎$(PAYLOAD)⏎E
""",
    "substitution": r"""
echo "$(echo ")" '$(PAYLOAD)')"
echo $(case x in x) echo ')';; esac)
echo $(case x in (x) ls;; esac; # a ) comment ' with a quote⏎ls)
echo `echo \`ls\` '\$(PAYLOAD)'`
echo "`echo "ls" \\$(ls)`"
echo "${x:-$(echo "}")}" '${x:-$(PAYLOAD)}'
echo ${x:-'}'$(ls)}
echo "${x:-'$(PAYLOAD)'}"
echo ${x:-`PAYLOAD`}
echo $( (ls) ) $((1+1)) $((ls); (ls))
echo $((1 + $(wc -l a.txt)))
cat <(head a.txt) >(sort) 2>/dev/null
x=$(< a.txt); echo "$x"
echo ${ ls; } $(ls # )⏎)
echo "$(echo '⏎# " '; ls)" # '
echo "a $(echo "b $(echo "c ' d")")" 'e'
echo \$(ls) \`ls\`
echo $'$(PAYLOAD)' $"$(ls)" $"`PAYLOAD`"
echo $(echo \) \# \') $(echo "\\" ')')
echo `echo '` PAYLOAD `'`
echo "`echo \"PAYLOAD\"`" "`echo '\`PAYLOAD\`'`"
""",
    "arithmetic": r"""
x='a[$(PAYLOAD)]'; echo $((x)) $[x]
x='a[$(PAYLOAD)]'; ((x)) || let x
x='a[$(PAYLOAD)]'; [[ x -eq 0 ]]
x='a[$(PAYLOAD)]'; [[ $x -gt 1 ]] && ls
x='a[$(PAYLOAD)]'; [ -v "$x" ]
x='a[$(PAYLOAD)]'; test -v "$x" -o 1 -eq 1
x='a[$(PAYLOAD)]'; [[ -v $x ]]
x='a[$(PAYLOAD)]'; echo ${v:x:1} ${@:x}
x='a[$(PAYLOAD)]'; for ((;x;)); do break; done
x='a[$(PAYLOAD)]'; export "$x=1"; declare "$x=1"
x='a[$(PAYLOAD)]'; shift x; ls
x='a[$(PAYLOAD)]'; test "$x" -eq 1
[[ $(cat a.txt) -eq 1 ]]
echo $(( $(cat a.txt) ))
x=$(cat a.txt); [ "$x" -gt 1 ] && ls
x=$(wc -l < a.txt); [[ $x -gt 1 ]] && ls
x=$(cat a.txt); echo ${y:x}
echo ${y:$(cat a.txt)} ${y[$(cat a.txt)]}
x=$(cat a.txt); [[ $x -eq 1 || -v $x ]]
x=$(cat a.txt); echo ${!x} ${x@P}
x=$(cat a.txt); declare -i y=$x; printf -v "$x" a; read $x < a.txt
for x in $(cat a.txt); do echo $((x+1)); done
while read -r x; do echo $((x+1)); break; done < a.txt
x=1; echo $((x+1)) $((x<<2)) $((x ? 1 : 2)); ls
n=1; for x in 1 2; do echo $((n + 1)); n='a[$(PAYLOAD)]'; done
n=1; for x in 1 2; do echo $((n + 1)); n='a[$(PAYLOAD)]'; [ $x = 1 ] && continue; n=1; done
n=1; m=1; for x in 1 2 3; do echo $((n)); n=$m; m='a[$(PAYLOAD)]'; done
n=1; for x in 1 'a[$(PAYLOAD)]'; do echo $((x + n)); done
n=1; n=$n'a[$(PAYLOAD)]'; echo $((n)) $((1$n))
n=1; read -r n < a.txt; echo $((n * 2))
n=1; a1='b[$(PAYLOAD)]'; echo $((a$n)) $((a1 % 2))
n=$((1 + 2)); n=$((n * n)); echo $(( ($n + 3) / 2 )) && ls
n=1; { n='a[$(PAYLOAD)]'; } ; echo $((n)); (n=1); echo $((n))
false && n=1; n=${n:-a[$(PAYLOAD)]}; echo $((n))
""",
    "hidden code": r"""
PS4='$(PAYLOAD)'; set -x; ls
PS4='$(PAYLOAD)' bash -x a.sh
trap 'PAYLOAD' EXIT; ls
trap "PAYLOAD" DEBUG; ls
trap -- 'PAYLOAD' ERR; false
eval 'PAYLOAD'
eval "x='PAYLOAD'"; eval "$x"
mapfile -C 'PAYLOAD #' -c 1 x <<< y
compgen -C 'PAYLOAD' x
complete -C 'PAYLOAD' x; ls
jobs -x PAYLOAD
command PAYLOAD
builtin eval 'PAYLOAD'
exec PAYLOAD
coproc PAYLOAD
coproc x { ls; PAYLOAD; }
. <(echo 'PAYLOAD')
. /dev/stdin <<< 'PAYLOAD'
source <<< 'PAYLOAD' /dev/stdin
alias ls='PAYLOAD'; ls
shopt -s expand_aliases⏎alias ls='PAYLOAD'⏎ls
shopt -s expand_aliases; alias q='⏎'⏎ls q PAYLOAD
ls() { PAYLOAD; }; ls
function ls { PAYLOAD; }; ls
command_not_found_handle() { PAYLOAD; }; ls
enable -n echo; echo x
hash -p /bin/ls cat; cat
set -o history; history -s PAYLOAD; fc -s
bind -x '"x":PAYLOAD'
time -p PAYLOAD
! PAYLOAD
{ PAYLOAD; } & ls
if PAYLOAD; then ls; fi
select x in PAYLOAD; do $x; break; done <<< 1
x='PAYLOAD'; $x
x=git; y=commit; $x $y --no-verify -qm x
set -k; git x=1 commit --no-verify
(PAYLOAD)
$(echo PAYLOAD)
IFS=:; x='git:commit:--no-verify:-qm:x'; $x
set -- PAYLOAD; "$@"
{a[$(PAYLOAD)]}> /dev/null ls
exec {x}> /dev/null; ls >&$x
a[$(PAYLOAD)]=1 ls
export a='$(PAYLOAD)' b=`ls`
BASH_ENV='$(PAYLOAD)' ls
GLOBIGNORE=*; ls *
TIMEFORMAT='$(PAYLOAD)'; time ls
""",
    "redirections": r"""
ls >| /dev/null 2>&1 &> /dev/null <> a.txt
ls 2>&1 > /dev/null | cat
> out.txt
ls > out.txt; ls >> out.txt; ls >| out.txt
ls &> out.txt; ls &>> out.txt; ls >& out.txt
ls 3> out.txt >&3; ls <> out.txt
exec 3> out.txt; ls >&3
{ ls; } > "out file"; (ls) > out.txt
ls > $(echo out.txt)
ls > out*.txt; ls > ~/out.txt; ls > ../out.txt
cd sub; ls > out.txt; cd ..; ls > out2.txt
cd sub && ls > /tmp/out.txt
(cd sub; ls > a) > b; ls > c
cd none || ls > out.txt
cd sub | ls > out.txt
ls {fd}> out.txt; ls >&out.txt
ls 2>&1>out.txt; ls>out.txt;ls 2>out.txt
for f in a b; do ls; done > out.txt
if ls; then ls; fi > out.txt
f() { ls; } > out.txt; f
ls > /dev/null > out.txt
ls >&2 >&-; ls 2>&-
echo x >$x; echo x > ""
echo a >b c >d
>out.txt ls 2> err.txt a.txt
ls > a{b,c} > a[b]
cat < a.txt > out.txt <<< x
ls > \⏎ out.txt
ls > o"u"t'.txt'
ls 2>out.txt >&1; ls 2 >out2.txt; ls 12>out3.txt; ls a2>out4.txt
x=out.txt; ls > $x; ls > "$x.b"; ls > ${y:-out.c}
ls >'out>file'; ls \> out.txt; ls ">" out.txt
""",
    "words": r"""
ls a\⏎b 'c\⏎d' "e\⏎f"
ls # a comment ' with a quote⏎ls 'b'
ls a#b #c⏎ls ${#x} $#
ls "a'b" 'a"b' a\'b a\"b $'a\'b' $"a b"
ls $'\x24(PAYLOAD)' $'a\nb' $'\u00e9\101\cA'
ls {a,b}{1..3} {a,'b c'} {a,b x{a,}y {} {,}
ls ~ ~/a a=~/b ~nobody "~" x:~
ls '' "" $x "$x" ''$x
ls * ? [ab].* *.txt '*' \* "a"*
ls !(a.txt)
shopt -s extglob⏎ls !(a.txt) @(a|b).* +(a)
shopt -s nullglob; ls *.none; ls a
set -f; ls *; set +f; ls *
IFS=,; x=a,b; ls $x; ls "$x"
IFS=; x='a b'; ls $x
x='a  b'; ls $x "$x" ${x}c
set -- a 'b c'; ls $@ "$@" "$*" $2 ${2} $10
set -- -x; ls "$1"; ls $#
x=-x; ls $x; rg $x
x='-x y'; rg $x; rg "$x"
ls !! !$ !-1
set -o history -H; ls a⏎ls !!
ls -- -x; ls a=b; a=b ls; a=b
a+=b ls; a[0]=b; ls a[0]=b
x=a; x+=b; ls $x
x=(a 'b c'); ls ${x[@]} "${x[@]}" "${x[*]}" $x ${#x[@]}
x='*'; ls $x "$x"
x='{a,b}'; ls $x
ls if then else; echo for in do
ls ; { ls }; }
ls }; ls {; ls ]]
ls ${x:-a b} "${x:-a b}" ${x:+a} ${y-'a b'}
ls ${PWD##*/} ${x%b} ${x/a/b} ${x^^}
set -P; set -B; set +B; ls {a,b}
unset x; x=$x$y; rg $x a; rg "$x" a
x=$(cat a.txt) y="$x"; head "$y" -- "$x"; head -n "$y"
""",
    "blanks": r"""
ls	a␋b␌c
ls a␍⏎ls b␍
⏎ls a; ls a b
ls a　b c ​d
if ls␍⏎then ls␍⏎fi␍
⏎cat <<E␍⏎hi␍⏎E␍⏎ls
cat <<E⏎hi⏎E␍⏎$(PAYLOAD)⏎E
ls 'a␍' \␍⏎ls b
lsa 
ls \⏎⏎ ls b
ls &&⏎⏎# x⏎ls |⏎cat
ls é 'ü' ‮
""",
    "structures": r"""
case a.txt in *.txt) ls;; *) cat;; esac
case "$x" in a|b) ls;& c) cat;;& (d) head;; esac
case x in esac
case in in in) ls;; esac
case $x in '$(PAYLOAD)') ls;; $(echo x)) cat;; esac
for f in a b 'c d'; do ls "$f"; done
for f; do ls $f; done
for f in; do ls; done; for f⏎in a⏎do ls⏎done
for f in a b; { ls $f; }
for ((i=0; i<2; i++)); do ls $i; done
while read -r x y; do ls "$x"; break; done < a.txt
until ls; do cat; break; done
select f in a b; do ls $f; break; done <<< 1
if [ -f a.txt ] && [[ a == a* ]]; then ls; elif ls; then cat; else head; fi
[[ a =~ ^a(b|c)$ ]] && ls; [[ $x = 'a b' || -n $y ]]
[[ a < b ]] && ls; [ a < b.py ] && ls
f() { ls "$1" "$@"; }; f a 'b c'
f() { local x=a; ls $x; }; f; ls $x
f () ( ls ); function g { f; }; g
time ls | cat; time -p ls; ! ls
(ls; (ls; (ls))); { ls; { ls; }; }
ls | cat | head -n 1 |& sort
ls & wait; ls & cat a.txt
ls || cat && head a.txt; ls; exit 1; cat
set -e; false; ls
ls;;
ls && ; cat
( ls ; cat
ls 'a
ls "a $(cat
return; ls; break; continue; ls
! ! ls; !ls; ! { ls; }
if ls; then; ls; fi
((1)) && ls; (( x = 1 )); ls $x
((ls); ls)
a=1 b=2 ls $a; env a=1 ls
coproc ls; coproc { ls; }; wait
for f in a; do ls $f; done; ls $f; while false; do :; done; ls $f
x=a; if ls; then x=b; fi; ls $x
x=a; ls | x=b; (x=c); ls $x; { x=d; }; ls $x
x=a; ls || x=-b; rg "$x"
""",
}

MARKS = str.maketrans({"⏎": "\n", "␍": "\r", "␋": "\v", "␌": "\f"})


def split_scripts(text: str) -> list[str]:
    return [each.translate(MARKS) for each in text.strip("\n").split("\n")]


def list_corners() -> list[tuple[str, str]]:
    """Return every script with its kind."""
    groups = {**KINDS, **OTHERS}
    return [
        (kind, script) for kind, text in groups.items() for script in split_scripts(text)
    ]
