//! The usage.

/// What `-?` prints.
pub(super) const TEXT: &str = "\
Usage: diskspd [options] target...

DISKSPD's command line on fathom's engine. A value follows its letter directly (-b4K); options come
before targets; sizes are whole numbers with K, M, G, T or b (blocks). Targets are files and block
devices.

What is done
  -b<size>          size of an I/O [64K]
  -w<percent>       share of writes [0]
  -r[<align>]       random offsets, multiples of <align> [the block]
  -rs<percent>      so many random, the others go on in sequence
  -rdpct<io>/<part>[:...]  shares of the I/O for parts of the target, per cent
  -rdabs<io>/<size>[:...]  the same for sizes
  -s[i][<stride>]   in sequence (the default); i: threads share one position
  -p                each outstanding I/O goes through the target by itself
  -Z | -Zr          writes carry zeros; new random bytes [0 to 255 repeated]
  -Z<size>[,<file>] writes carry random bytes or those of a file

Where
  -c<size>          make the files anew, this long
  -B<base>[:<len>]  begin here, for this long      -f<size>  touch nothing beyond
  -T<size>          threads begin so far apart

How much at once, how fast
  -o<n>  outstanding I/Os a target and thread [2]  -t<n>  threads a target [1]
  -F<n>  threads that share all targets            -O<n>  outstanding I/Os a thread, with -F
  -g<n>  bytes a millisecond, a thread and target  -g<n>i  I/Os a second
  -i<n>  I/Os a burst, with -j                     -j<ms>  pause between bursts
  -n     do not bind threads to CPUs               -a<cpu>[,<cpu>...]  bind them to these

Caches
  -Sb  cached (the default)     -Su  O_DIRECT     -Sw  O_DSYNC     -Sh  both
  -Sm  mapped                   -Nv  msync after each write, with -Sm
  -fr | -fs  advise the kernel of random or sequential access     -l  huge pages for buffers

Time
  -W<s>  warm-up [5]   -d<s>  measured time [10]   -C<s>  cool-down [0]

Results
  -L     latency, with its distribution            -D[<ms>]  deviation of IOPS [1000]
  -R[p]<text|xml>  form of the result; p: print the profile and do not run
  -X<file>  run this profile; *1, *2 ... in it are the targets of the command line
  -z[<seed>]  seed of random choices [0]; alone: another each time
  -v     say how things are done here, and all findings in full

Accepted; a warning, or a note with -v, says what they mean here: -: -a -ag -e -ft -h -I -P -vs -x
Refused, since only Windows has what they are about: -Nn -Ni -Sr -y. docs/DISKSPD.md has every flag.

fathom's own
  --allow-destroy=PATH  overwrite this device even if it holds data or is in use
  --record=FILE         keep the record in this file as well as in the archive
  --no-archive          do not archive the run
  --with-serials        keep the serial numbers of disks in it
";
