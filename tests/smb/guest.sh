# What linux.mjs runs in the guest. Set before: PORT, FILE_PORT, ACCOUNT, KEY, SHARE, SOURCE and HERE (folders of the
# machine), SEED.
# Prints "ok: NAME" or "not ok: NAME" for each check, and before the latter what the commands have said.

check() { # NAME FUNCTION [ARGUMENT].., which runs in a shell of its own that ends with the first failure
    name=$1
    shift
    (set -e; "$@") > /mnt/said 2>&1
    if [ $? -eq 0 ]; then echo "ok: $name"; else cat /mnt/said; echo "not ok: $name"; fi
}

share() { # PLACE OPTIONS
    mkdir -p "$1"
    mount -t cifs "//10.0.2.2/$SHARE" "$1" -o "port=$PORT,username=$ACCOUNT,password=$KEY,$2"
}

same() { # EXPECTED IS
    [ "$1" = "$2" ] || { echo "expected: $1"; echo "is: $2"; return 1; }
}

copies() { # OPTIONS TREE: it is the same through this mount and through a fresh one
    share /mnt/s "$1"
    cp -r "$2" "/mnt/s/$1"
    diff -r "$2" "/mnt/s/$1"
    umount /mnt/s
    share /mnt/s "$1"
    diff -r "$2" "/mnt/s/$1"
    rm -r "/mnt/s/$1"
    [ ! -e "/mnt/s/$1" ]
}

builds() {
    mkdir /mnt/s/c
    cd /mnt/s/c
    echo 'int twice(int);' > twice.h
    printf '#include "twice.h"\nint twice(int n) { return 2 * n; }\n' > twice.c
    printf '#include "twice.h"\n#include <stdio.h>\nint main(void) { return printf("%%d\\n", twice(21)) < 0; }\n' > main.c
    printf 'main: main.o twice.o\n\tgcc -o main main.o twice.o\nmain.o twice.o: twice.h\n' > Makefile
    make -s
    same 42 "$(./main)"
    make -q
}

# With locks at the server SQLite finds its database locked, at Samba's too: nobrl keeps them in the client.
databases() {
    share /mnt/n "$1"
    cd /mnt/n
    sqlite3 base "create table t(a integer primary key, b text); insert into t(b) values('x'), ('y');
        begin; insert into t(b) select b from t; rollback;
        begin; insert into t(b) select b || 'z' from t; commit;"
    same x,y,xz,yz "$(sqlite3 base 'select group_concat(b) from t')"
    cd /mnt/s
    same ok "$(sqlite3 "file:/mnt/s/base?mode=ro" 'pragma integrity_check')"
}

repositories() {
    mkdir /mnt/s/git
    cd /mnt/s/git
    git init -q a
    cd a
    git config user.name name
    git config user.email name@example.com
    cp -r "$SOURCE/smb" tree
    git add .
    git commit -qm one
    echo 'more' >> tree/README.md
    git commit -qam two
    git checkout -qb side HEAD~
    same '' "$(git status --short)"
    git gc -q
    git fsck --no-progress
    git clone -q . ../b
    same 1 "$(git -C ../b log --oneline | wc -l)"
    diff -r "$SOURCE/smb" ../b/tree
}

awaits() { # FILE TEXT: another client writes it; linux.mjs ends what never comes
    until [ "$(cat "$1" 2>/dev/null)" = "$2" ]; do sleep 0.2; done
}

sees() {
    share /mnt/o "$1,nosharesock,actimeo=0"
    echo one > /mnt/s/seen
    same one "$(cat /mnt/o/seen)"
    echo two >> /mnt/o/seen
    same "$(printf 'one\ntwo')" "$(cat /mnt/s/seen)"
    mv /mnt/s/seen /mnt/s/moved
    same "$(printf 'one\ntwo')" "$(cat /mnt/o/moved)"
    # The client still takes the old name for the file that it has open, a second long; a listing is the server's.
    same moved "$(ls /mnt/o | grep -x -e seen -e moved)"
    awaits /mnt/o/from-rest rest
    awaits /mnt/s/from-rest rest
}

# By two mounts that cache as they may, and REST.
agrees() { # OPTIONS OPTIONS OPERATIONS
    share /mnt/x "$1,nosharesock,actimeo=0"
    share /mnt/y "$2,nosharesock,actimeo=0"
    for seed in "$SEED" $((SEED + 1)) $((SEED + 2)); do
        /usr/bin/python3 "$HERE/fsx.py" 10.0.2.2 "$FILE_PORT" "$ACCOUNT" "$KEY" "$SHARE" /mnt/x /mnt/y "$seed" "$3"
    done
    umount /mnt/x /mnt/y
}

for options in vers=2.1 vers=3.0 vers=3.0,seal vers=3.1.1; do
    check "a folder is copied, $options" copies "$options" "$SOURCE/smb"
    umount /mnt/s
done
check 'a tree of all sources is copied, vers=3.1.1,seal' copies vers=3.1.1,seal "$SOURCE"
umount /mnt/s
share /mnt/s vers=3.1.1,seal,actimeo=0
check 'make and gcc' builds
check 'SQLite, nobrl' databases vers=3.1.1,seal,nobrl
check 'git' repositories
check 'two mounts and REST' sees vers=3.0,seal
check 'random operations by two mounts and REST' agrees vers=3.1.1,seal vers=3.0,seal 300
