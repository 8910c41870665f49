/**
 * What stands between the server and a script: a POSIX sh text, so that an attempt needs no Node and outlives the server. Its process leads
 * the attempt's session and process group. Arguments: $1 the attempt's folder, $2 bash, $3 mv (absolute paths). Files it writes:
 *   started    made exclusively, so that of several wrappers for one attempt only one runs the script; three lines: pid, birth (the
 *              kernel's /proc/PID/stat line, elsewhere the start time that ps prints), boot id
 *   exit       the script's exit status, one line, by rename. It is first written over the bytes that exit.part already occupies: a disk
 *              that the script filled has no new block to give.
 * File descriptor 3 tells the server `started`, or `refused` if `started` could not be made; nobody need be listening (hence PIPE).
 * TERM, INT and HUP reach the whole group: the wrapper catches them to live on and note how the script took them. Up to the last line
 * everything is a builtin of the shell: a process more would cost a millisecond.
 */
export const WRAPPER = `
folder=$1 bash=$2 mv=$3
set -C
trap '' PIPE
boot=none
if [ -r /proc/self/stat ]; then
  read -r birth </proc/self/stat
  [ -r /proc/sys/kernel/random/boot_id ] && read -r boot </proc/sys/kernel/random/boot_id
else
  birth=$(LC_ALL=C ps -o lstart= -p $$)
fi
if { printf '%s\\n%s\\n%s\\n' "$$" "$birth" "$boot" >"$folder/started"; } 2>/dev/null
then echo started >&3
else echo refused >&3; exit 125
fi
exec 3>&-
trap - PIPE
trap : TERM INT HUP
"$bash" "$folder/script.sh"
code=$?
printf '%s\\n' "$code" 1<>"$folder/exit.part" && { "$mv" -f "$folder/exit.part" "$folder/exit" || "$mv" -f "$folder/exit.part" "$folder/exit"; }
exit "$code"
`;
