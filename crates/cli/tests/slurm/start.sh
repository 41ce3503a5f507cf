# Slurm on one node, which is this machine. $1: directory, $2 and $3: ports.
set -eu
cd "$1"
mkdir state spool munge
host=$(hostname -s)
cat > slurm.conf <<C
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$2
SlurmdPort=$3
AuthType=auth/munge
AuthInfo=socket=$1/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=all Nodes=$host Default=YES State=UP
C
dd if=/dev/urandom of=munge/key bs=1k count=1 status=none
chmod 400 munge/key
chmod 755 munge
munged --force --key-file="$1/munge/key" --socket="$1/munge/socket" --pid-file="$1/munge/pid" \
  --log-file="$1/munge/log" --seed-file="$1/munge/seed"
slurmctld
slurmd
for _ in $(seq 100); do
  if sinfo --noheader --format=%T | grep -q idle; then exit 0; fi
  sleep 0.1
done
cat slurmctld.log slurmd.log >&2
exit 1
