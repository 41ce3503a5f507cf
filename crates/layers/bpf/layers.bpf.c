// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Times the path of each I/O through the block layer and adds the times up in the kernel.
//
// An I/O is known by the address of its bio. The programs follow it by these tracepoints:
//
//   block_bio_queue      the bio enters the block layer
//   block_split          a part of it becomes a bio of its own
//   block_getrq          it has a request, and with that a tag
//   block_rq_insert      the request enters the scheduler
//   block_rq_issue       the driver gets the request
//   block_rq_requeue     the driver gave it back
//   block_rq_complete    the device has answered; bios that were merged are in the chain of the request
//   block_bio_complete   the same for drivers that have no requests (zram, device mapper, md)
//
// A flush of a device's cache is a request that the block layer makes itself: it has no bio, and is timed
// between block_rq_issue and block_rq_complete. Where the kernel has ext4, jbd2_start_commit and jbd2_end_commit
// time the commits of its journals.
//
// Offsets of kernel structures are relocated when the programs are loaded (CO-RE): the structures
// below name only what is read. `cargo xtask bpf` compiles this file.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static __attribute__((always_inline))
#define KERNEL __attribute__((preserve_access_index))
#define MAP(name) name SEC(".maps")
#define FIELD_NUMBER(name, value) int (*name)[value]
#define FIELD_TYPE(name, type) type *name

// Numbers of the kernel's interface for BPF programs.
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6 };
enum { ANY = 0 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static long (*update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*now_ns)(void) = (void *)5;
static u64 (*current_pid_tgid)(void) = (void *)14;
static long (*current_name)(void *buffer, u32 size) = (void *)16;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static struct task_struct *(*current_task)(void) = (void *)158;

#define EXISTS(field) __builtin_preserve_field_info(field, 2)

struct task_struct {
	u32 flags;
	u64 nvcsw;
	u64 nivcsw;
	int tgid;
	struct task_struct *group_leader;
	char comm[16];
} KERNEL;

struct kernfs_node {
	u64 id;
} KERNEL;

struct cgroup {
	struct kernfs_node *kn;
} KERNEL;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} KERNEL;

struct blkcg {
	struct cgroup_subsys_state css;
} KERNEL;

struct blkcg_gq {
	struct blkcg *blkcg;
} KERNEL;

struct gendisk {
	int major;
	int first_minor;
} KERNEL;

struct block_device {
	struct gendisk *bd_disk;
} KERNEL;

struct bvec_iter {
	u64 bi_sector;
	u32 bi_size;
} KERNEL;

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	u32 bi_opf;
	u8 bi_status;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct blkcg_gq *bi_blkg;
} KERNEL;

struct request_queue {
	struct gendisk *disk;
} KERNEL;

struct request {
	struct bio *bio;
	u32 cmd_flags;
	struct request_queue *q;
	struct gendisk *rq_disk;
} KERNEL;

struct journal_s {
	struct block_device *j_fs_dev;
} KERNEL;

// Operations and flags of bi_opf.
enum { OP_MASK = 0xff, OP_READ = 0, OP_FLUSH = 2, OP_DISCARD = 3, OP_SECURE_ERASE = 5, META = 1 << 12 };

// Value of bi_status (BLK_STS_AGAIN): the I/O would have had to wait; its thread makes it again.
enum { TRY_AGAIN = 12 };

// Flag of a task: a thread of the kernel (PF_KTHREAD).
enum { KERNEL_THREAD = 0x00200000 };

// The same numbers are in src/cell.rs and src/collector.rs.
enum { DIRECTIONS = 4, READ = 0, WRITE = 1, TRIM = 2, FLUSH = 3 };
enum { REQUEST = 0, PLUG = 1, SCHEDULER = 2, DEVICE = 3, TOTAL = 4, SPANS = 5 };
enum { BUCKETS = 896, CLASSES = BUCKETS / 8, SIZES = 5, SLOWEST = 100, STEPS = 4, NAME = 16 };
enum { LOST = 0, UNSEEN = 1, METADATA = 2, UNNAMED = 3, TALLIES = 8 };

// Flags of an I/O.
enum {
	PART = 1,
	SPLIT = 2,
	REQUEUED = 4,
	HELPED = 8,
	OWN = 16,
	MERGED = 32,
	// It has a request.
	GOT = 64,
	// It is counted in foreign_in_device.
	FOREIGN = 128,
	// Requests of other processes were in the device when the driver got it.
	BESIDE = 256,
};

// Sizes of the table of I/Os in flight, and of the table of workers.
enum { HASHES = 8192, WAYS = 4, WORKER_SETS = 4096 };

// Bios of a request that are looked at.
enum { CHAIN_MAX = 128 };
#define NOT_OURS 0xffffffff

// Set by the loader.
enum { DEVICES_MAX = 64 };
const volatile u32 own_tgid = 0;
const volatile u32 devices_count = 1;
// Their major and minor numbers.
const volatile u64 devices[DEVICES_MAX] = {};
// Not 0: the I/Os of every process are timed, as those of one group.
const volatile u32 all_processes = 0;
// Not 0: I/Os are also counted by their size.
const volatile u32 sizes_apart = 0;

// Whose I/O it is, if it is none of the run's jobs.
struct owner {
	char name[NAME];
	// Number of the cgroup that the kernel charges it to; 0 if it charges none.
	u64 cgroup;
	// Number of the process; 0 for threads of the kernel.
	u32 process;
	u32 device;
	// 1 for threads of this program.
	u32 own;
	u32 unused;
};

// An I/O between its entry into the block layer and its completion.
struct io {
	// Number of its bio; 0: this entry is free.
	u64 bio;
	u64 queued;
	union {
		// Before it has a request: how often the kernel had switched its thread off.
		u64 switches;
		// When it had one.
		u64 got;
	};
	u64 inserted;
	u64 issued;
	u64 sector;
	u32 bytes;
	// Index into cells; NOT_OURS for those of other processes.
	u32 cell;
	u32 device;
	u32 flags;
	struct owner owner;
};

struct span {
	u64 sum;
	u32 buckets[BUCKETS];
};

// I/Os of about the same total time, with the sums of their times in each layer.
struct class {
	u64 ios;
	u64 layers[TOTAL];
};

struct slow_io {
	u64 completed;
	u64 total;
	u64 layers[TOTAL];
	u64 sector;
	u32 bytes;
	u32 flags;
};

// The slowest I/Os, in no order.
struct slowest {
	u32 count;
	// Of a full list: the fastest one in it, which the next slower one replaces.
	u32 fastest;
	u64 fastest_total;
	struct slow_io ios[SLOWEST];
};

// The slowest I/O of a step of the run.
struct slow_step {
	// Its number; 0: none.
	u64 step;
	struct slow_io io;
};

// What is known of the I/Os of one group, device and direction. The kernel allows 32 KiB.
struct cell {
	// Without parts that were split off.
	u64 ios;
	// Sums of times, modulo 2^64.
	u64 queued;
	u64 completed;
	u64 bytes;
	u64 merged;
	u64 split;
	u64 parts;
	u64 requeued;
	u64 helped;
	// Those that found requests of others in the device, and their time in it.
	u64 beside;
	u64 beside_ns;
	struct span spans[SPANS];
	struct class classes[CLASSES];
	// Those of the last steps.
	struct slow_step steps[STEPS];
	struct slowest slowest;
};

// The I/Os of a cell by their sizes.
struct cell_by_size {
	struct class classes[SIZES * CLASSES];
};

struct other {
	u64 requests;
	u64 bytes;
	u64 device_ns;
};

// I/Os whose bios have the same hash.
struct bucket_of_ios {
	struct io ios[WAYS];
};

// A hash table of our own: the kernel finds an element of an array without a call, which its hash maps
// need for each step of each I/O.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, HASHES);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct bucket_of_ios);
} MAP(in_flight);

// A thread that does I/O for the run.
struct worker {
	// Its number; 0: this entry is free.
	u32 thread;
	u32 group;
	// End of its ramp. Earlier I/Os do not count.
	u64 since;
};

struct set_of_workers {
	struct worker workers[WAYS];
};

// By the lowest bits of their numbers. An array, as for the I/Os in flight.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, WORKER_SETS);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct set_of_workers);
} MAP(workers);

// Kernel threads of io_uring, and the workers that they work for.
struct {
	FIELD_NUMBER(type, MAP_HASH);
	FIELD_NUMBER(max_entries, 16384);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct worker);
} MAP(helpers);

struct {
	FIELD_NUMBER(type, MAP_PERCPU_ARRAY);
	FIELD_NUMBER(max_entries, 4);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct cell);
} MAP(cells);

struct {
	FIELD_NUMBER(type, MAP_PERCPU_ARRAY);
	FIELD_NUMBER(max_entries, 1);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct cell_by_size);
} MAP(cells_by_size);

// Number of the step of the run that is under way, from 1 on.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, 1);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u64);
} MAP(step_number);

struct {
	FIELD_NUMBER(type, MAP_HASH);
	FIELD_NUMBER(max_entries, 1024);
	FIELD_TYPE(key, struct owner);
	FIELD_TYPE(value, struct other);
} MAP(others);

// Requests of other processes that are in each device. Those of the kernel's threads are not counted: they may
// work for the run, as its journal does.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, DEVICES_MAX);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u64);
} MAP(foreign_in_device);

// Events of a kind on a device.
struct events {
	u64 count;
	u64 sum;
	u64 longest;
};

// Commits of the journals on each device.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, DEVICES_MAX);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct events);
} MAP(journals);

// Flushes of the cache of each device.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, DEVICES_MAX);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct events);
} MAP(flushes);

// By number of the journal, or of the request that flushes: when the event began; 0: none is under way.
struct {
	FIELD_NUMBER(type, MAP_HASH);
	FIELD_NUMBER(max_entries, 1024);
	FIELD_TYPE(key, u64);
	FIELD_TYPE(value, u64);
} MAP(events_under_way);

struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, TALLIES);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u64);
} MAP(tallies);

INLINE void tally(u32 which)
{
	u64 *count = lookup(&tallies, &which);
	if (count)
		__sync_fetch_and_add(count, 1);
}

// The index of a watched device; negative if it is another one.
INLINE int watched_disk(struct gendisk *disk)
{
	u64 number = (u64)(u32)disk->major << 32 | (u32)disk->first_minor;
	for (u32 i = 0; i < DEVICES_MAX && i < devices_count; i++)
		if (devices[i] == number)
			return i;
	return -1;
}

// The same of the device that a bio is for.
INLINE int watched(struct bio *bio)
{
	return watched_disk(bio->bi_bdev->bd_disk);
}

// Kernel threads of io_uring are named after the thread that they work for: iou-wrk-NUMBER,
// iou-sqp-NUMBER.
INLINE u32 thread_behind(const char *name)
{
	if (name[0] != 'i' || name[1] != 'o' || name[2] != 'u' || name[3] != '-' || name[7] != '-')
		return 0;
	u32 number = 0;
#pragma unroll
	for (int i = 8; i < NAME; i++) {
		if (name[i] < '0' || name[i] > '9')
			break;
		number = number * 10 + (name[i] - '0');
	}
	return number;
}

// The entry of a thread; NULL if it does no I/O for the run.
INLINE struct worker *worker_of(u32 thread)
{
	u32 set = thread % WORKER_SETS;
	struct set_of_workers *found = lookup(&workers, &set);
	if (!found)
		return 0;
#pragma unroll
	for (int i = 0; i < WAYS; i++)
		if (found->workers[i].thread == thread)
			return &found->workers[i];
	return 0;
}

// The worker that the current thread of io_uring works for; NULL if it works for none.
INLINE struct worker *helped_worker(u32 thread)
{
	struct worker *known = lookup(&helpers, &thread);
	if (known)
		return known;
	char name[NAME] = {};
	current_name(name, NAME);
	u32 behind = thread_behind(name);
	struct worker *worker = behind ? worker_of(behind) : 0;
	if (worker)
		update(&helpers, &thread, worker, ANY);
	return worker;
}

INLINE u64 switches_of(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

// A number that only this structure of the kernel has. The kernel allows no arithmetic with an address except its distance to
// another one.
INLINE u64 number_of(void *address)
{
	u64 number = (u64)address - (u64)&own_tgid;
	asm volatile("" : "+r"(number));
	return number;
}

INLINE struct bucket_of_ios *bucket_of(u64 number)
{
	// Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
	u32 hash = (number * 0x9e3779b97f4a7c15ull) >> 51;
	return lookup(&in_flight, &hash);
}

// The entry of the bio that has this number; NULL if it has none.
INLINE struct io *io_numbered(u64 number)
{
	struct bucket_of_ios *bucket = bucket_of(number);
	if (!bucket)
		return 0;
#pragma unroll
	for (int i = 0; i < WAYS; i++)
		if (bucket->ios[i].bio == number)
			return &bucket->ios[i];
	return 0;
}

INLINE struct io *io_of(struct bio *bio)
{
	return io_numbered(number_of(bio));
}

// Requests of others in a device; NULL if there is no such device.
INLINE u64 *foreign_in(u32 device)
{
	return lookup(&foreign_in_device, &device);
}

// A request of others is no longer in the device.
INLINE void leave_device(struct io *io)
{
	u64 *foreign = io->flags & FOREIGN ? foreign_in(io->device) : 0;
	if (foreign)
		__sync_fetch_and_add(foreign, -1);
	io->flags &= ~FOREIGN;
}

// An entry for a bio, in which nothing else is set yet; NULL if there is no room.
INLINE struct io *enter(struct bio *bio)
{
	u64 number = number_of(bio);
	struct bucket_of_ios *bucket = bucket_of(number);
	if (!bucket)
		return 0;
	// Its last I/O is complete, but the kernel skipped the program that would have counted it.
	struct io *stale = io_of(bio);
	if (stale) {
		if (stale->cell != NOT_OURS)
			tally(LOST);
		leave_device(stale);
		return stale;
	}
#pragma unroll
	for (int i = 0; i < WAYS; i++) {
		struct io *io = &bucket->ios[i];
		if (!io->bio && !__sync_val_compare_and_swap(&io->bio, 0, number))
			return io;
	}
	return 0;
}

INLINE u32 direction(u32 opf, u32 bytes)
{
	u32 op = opf & OP_MASK;
	if (op == OP_DISCARD || op == OP_SECURE_ERASE)
		return TRIM;
	if (op == OP_READ)
		return READ;
	return bytes ? WRITE : FLUSH;
}

// The cgroup that the kernel charges for this I/O. Data that a process wrote to the page cache is charged to
// its cgroup also when a thread of the kernel submits it.
INLINE u64 cgroup_of(struct bio *bio)
{
	if (!EXISTS(bio->bi_blkg) || !bio->bi_blkg)
		return 0;
	return bio->bi_blkg->blkcg->css.cgroup->kn->id;
}

INLINE void set_owner(struct io *io, struct bio *bio, struct task_struct *task)
{
	struct owner *owner = &io->owner;
	u32 is_kernel = task->flags & KERNEL_THREAD;
	struct task_struct *leader = task->group_leader;
	read_kernel(owner->name, NAME, leader->comm);
	owner->cgroup = cgroup_of(bio);
	owner->process = is_kernel ? 0 : task->tgid;
	owner->device = io->device;
	owner->own = io->flags & OWN ? 1 : 0;
	owner->unused = 0;
	// Kernel threads of a kind have one name: kworker/u8:3 and kworker/0:1H.
	if (is_kernel) {
		u32 ended = 0;
#pragma unroll
		for (int i = 0; i < NAME; i++) {
			if (owner->name[i] == '/')
				ended = 1;
			if (ended)
				owner->name[i] = 0;
		}
	}
}

SEC("tp_btf/block_bio_queue")
int bio_queue(u64 *context)
{
	struct bio *bio = (void *)context[0];
	int device = watched(bio);
	if (device < 0)
		return 0;
	u64 queued = now_ns(), thread = current_pid_tgid();
	u32 opf = bio->bi_opf, bytes = bio->bi_iter.bi_size;
	u32 cell = NOT_OURS, flags = 0;
	if (all_processes) {
		cell = device * DIRECTIONS + direction(opf, bytes);
		flags = thread >> 32 == own_tgid ? OWN : 0;
	} else if (thread >> 32 == own_tgid) {
		struct worker *worker = worker_of((u32)thread);
		flags = OWN;
		if (!worker) {
			worker = helped_worker((u32)thread);
			flags |= HELPED;
		}
		if (worker && opf & META) {
			tally(METADATA);
		} else if (worker) {
			if (queued < worker->since)
				return 0;
			cell = (worker->group * devices_count + device) * DIRECTIONS + direction(opf, bytes);
		}
	}
	struct io *io = enter(bio);
	if (!io) {
		tally(LOST);
		return 0;
	}
	struct task_struct *task = current_task();
	io->queued = queued;
	io->switches = switches_of(task);
	io->inserted = io->issued = 0;
	io->sector = bio->bi_iter.bi_sector;
	io->bytes = bytes;
	io->cell = cell;
	io->device = device;
	io->flags = flags;
	if (cell == NOT_OURS || all_processes)
		set_owner(io, bio, task);
	return 0;
}

// The part's parent is in bi_private. That is no pointer to the kernel before Linux 6.17, so its distance to
// the bio is taken from plain copies of both addresses.
SEC("tp_btf/block_split")
int bio_split(u64 *context)
{
	struct bio *bio = (void *)context[0];
	u64 address = 0, parent_address = 0;
	read_kernel(&address, sizeof(address), context);
	read_kernel(&parent_address, sizeof(parent_address), &bio->bi_private);
	struct io *parent = io_numbered(number_of(bio) + parent_address - address);
	if (!parent)
		return 0;
	struct io *part = enter(bio);
	if (!part) {
		tally(LOST);
		return 0;
	}
	u32 bytes = bio->bi_iter.bi_size;
	part->queued = parent->queued;
	part->got = parent->got;
	part->inserted = part->issued = 0;
	part->sector = bio->bi_iter.bi_sector;
	part->bytes = bytes;
	part->cell = parent->cell;
	part->device = parent->device;
	part->flags = (parent->flags & ~FOREIGN) | PART;
	part->owner = parent->owner;
	parent->flags |= SPLIT;
	parent->bytes -= bytes;
	parent->sector += bytes >> 9;
	return 0;
}

SEC("tp_btf/block_getrq")
int getrq(u64 *context)
{
	struct io *io = io_of((void *)context[0]);
	if (!io || io->cell == NOT_OURS)
		return 0;
	// A thread that waits for a request sleeps. Where it did not, the clock need not be read.
	io->got = switches_of(current_task()) == io->switches ? io->queued : now_ns();
	io->flags |= GOT;
	return 0;
}

SEC("tp_btf/block_rq_insert")
int rq_insert(u64 *context)
{
	struct request *request = (void *)context[0];
	struct io *io = io_of(request->bio);
	// A request that is inserted again after a requeue keeps its first time.
	if (io && io->cell != NOT_OURS && !io->inserted)
		io->inserted = now_ns();
	return 0;
}

// Clocks of two CPUs may differ by some nanoseconds.
INLINE u64 between(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

INLINE void event_begins(u64 number)
{
	u64 now = now_ns();
	update(&events_under_way, &number, &now, ANY);
}

INLINE void event_ends(void *map, u32 device, u64 number)
{
	u64 *start = lookup(&events_under_way, &number);
	struct events *events = lookup(map, &device);
	if (!start || !events || !*start)
		return;
	u64 time = between(*start, now_ns());
	*start = 0;
	__sync_fetch_and_add(&events->count, 1);
	__sync_fetch_and_add(&events->sum, time);
	if (time > events->longest)
		events->longest = time;
}

// The index of the watched device whose cache a request flushes; negative if it does not flush one.
INLINE int flushed_device(struct request *request)
{
	if ((request->cmd_flags & OP_MASK) != OP_FLUSH)
		return -1;
	// Linux 5.17 moved it.
	return watched_disk(EXISTS(request->rq_disk) ? request->rq_disk : request->q->disk);
}

SEC("tp_btf/block_rq_issue")
int rq_issue(u64 *context)
{
	struct request *request = (void *)context[0];
	if (flushed_device(request) >= 0)
		event_begins(number_of(request));
	struct io *io = io_of(request->bio);
	if (!io)
		return 0;
	io->issued = now_ns();
	u64 *foreign = foreign_in(io->device);
	if (!foreign)
		return 0;
	if (io->cell != NOT_OURS) {
		if (*foreign)
			io->flags |= BESIDE;
	} else if (io->owner.process && !(io->flags & (OWN | FOREIGN))) {
		__sync_fetch_and_add(foreign, 1);
		io->flags |= FOREIGN;
	}
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int rq_requeue(u64 *context)
{
	struct request *request = (void *)context[0];
	struct io *io = io_of(request->bio);
	if (io)
		io->flags |= REQUEUED;
	return 0;
}

// 32 buckets for each power of two, in units of 16 ns.
INLINE u32 bucket(u64 time)
{
	time >>= 4;
	if (time >= 1ull << 32)
		return BUCKETS - 1;
	u32 value = time, rest = time, power = 0;
	if (value < 32)
		return value;
	if (rest >= 1 << 16) { rest >>= 16; power += 16; }
	if (rest >= 1 << 8) { rest >>= 8; power += 8; }
	if (rest >= 1 << 4) { rest >>= 4; power += 4; }
	if (rest >= 1 << 2) { rest >>= 2; power += 2; }
	if (rest >= 1 << 1) power += 1;
	return (power - 4) * 32 + ((value >> (power - 5)) & 31);
}

// Adds a time to a span. An I/O that was not in the layer is in none of its buckets. Not inlined: the
// verifier looks at a global function once, but at inlined code in every state in which it is reached.
__attribute__((noinline)) int add(struct span *span, u64 time)
{
	if (!span || !time)
		return 0;
	u32 place = bucket(time);
	span->sum += time;
	if (place < BUCKETS)
		span->buckets[place] += 1;
	return 0;
}

INLINE void add_other(const struct io *io, u64 device_ns)
{
	struct owner key = io->owner;
	struct other *other = lookup(&others, &key);
	if (!other) {
		struct other fresh = {};
		if (update(&others, &key, &fresh, ANY)) {
			tally(UNNAMED);
			return;
		}
		other = lookup(&others, &key);
		if (!other)
			return;
	}
	__sync_fetch_and_add(&other->requests, 1);
	__sync_fetch_and_add(&other->bytes, io->bytes);
	__sync_fetch_and_add(&other->device_ns, device_ns);
}

INLINE u32 class_of(const struct slow_io *io)
{
	u32 class = bucket(io->total) / (BUCKETS / CLASSES);
	// The verifier of Linux 6.1 knows the bounds of a value only if it is this one that is compared.
	asm volatile("" : "+r"(class));
	return class;
}

INLINE void add_to_class(struct class *class, const struct slow_io *io)
{
	class->ios += 1;
	for (int i = 0; i < TOTAL; i++)
		class->layers[i] += io->layers[i];
}

// Up to 4 KiB, 16 KiB, 64 KiB, 256 KiB, and longer ones.
INLINE u32 size_class(u32 bytes)
{
	return (bytes > 1 << 12) + (bytes > 1 << 14) + (bytes > 1 << 16) + (bytes > 1 << 18);
}

// Adds an I/O to those of about the same size and total time.
__attribute__((noinline)) int add_by_size(u32 index, const struct slow_io *io)
{
	struct cell_by_size *cell = lookup(&cells_by_size, &index);
	if (!cell || !io)
		return 0;
	u32 place = size_class(io->bytes) * CLASSES + class_of(io);
	if (place < SIZES * CLASSES)
		add_to_class(&cell->classes[place], io);
	return 0;
}

// Adds the times of an I/O to those of about the same total time, and keeps them if it is one of the
// slowest.
__attribute__((noinline)) int add_whole(struct cell *cell, const struct slow_io *io)
{
	if (!cell || !io)
		return 0;
	u32 place = class_of(io), first = 0;
	if (place < CLASSES)
		add_to_class(&cell->classes[place], io);
	u64 *step = lookup(&step_number, &first);
	if (step && *step) {
		u64 number = *step;
		struct slow_step *slow = &cell->steps[number % STEPS];
		if (slow->step != number || io->total > slow->io.total) {
			slow->step = number;
			slow->io = *io;
		}
	}
	struct slowest *slowest = &cell->slowest;
	u32 at = slowest->count;
	if (at >= SLOWEST) {
		if (io->total <= slowest->fastest_total)
			return 0;
		at = slowest->fastest;
	}
	if (at >= SLOWEST)
		return 0;
	slowest->ios[at] = *io;
	if (slowest->count < SLOWEST)
		slowest->count += 1;
	if (slowest->count < SLOWEST)
		return 0;
	u32 fastest = 0;
	u64 total = slowest->ios[0].total;
	for (u32 i = 1; i < SLOWEST; i++) {
		if (slowest->ios[i].total < total) {
			total = slowest->ios[i].total;
			fastest = i;
		}
	}
	slowest->fastest = fastest;
	slowest->fastest_total = total;
	return 0;
}

INLINE void add_ours(const struct io *io, u64 inserted, u64 issued, u64 now)
{
	u32 index = io->cell, flags = io->flags;
	struct cell *cell = lookup(&cells, &index);
	if (!cell)
		return;
	if (flags & PART) {
		cell->parts += 1;
	} else {
		cell->ios += 1;
		cell->queued += io->queued;
		cell->completed += now;
	}
	cell->bytes += io->bytes;
	if (flags & SPLIT)
		cell->split += 1;
	if (flags & REQUEUED)
		cell->requeued += 1;
	if (flags & HELPED)
		cell->helped += 1;
	struct slow_io whole = { .completed = now, .sector = io->sector, .bytes = io->bytes };
	u64 got = flags & GOT ? io->got : 0;
	if (!got && issued != io->queued) {
		cell->merged += 1;
		flags |= MERGED;
		got = io->queued;
	}
	if (got) {
		// It may have been merged into a request that was in the scheduler by then.
		u64 entered = inserted > got ? inserted : got;
		whole.layers[REQUEST] = between(io->queued, got);
		whole.layers[PLUG] = between(got, inserted ? entered : issued);
		add(&cell->spans[REQUEST], whole.layers[REQUEST]);
		add(&cell->spans[PLUG], whole.layers[PLUG]);
		if (inserted) {
			whole.layers[SCHEDULER] = between(entered, issued);
			add(&cell->spans[SCHEDULER], whole.layers[SCHEDULER]);
		}
	}
	whole.flags = flags;
	whole.layers[DEVICE] = between(issued, now);
	whole.total = between(io->queued, now);
	if (flags & BESIDE) {
		cell->beside += 1;
		cell->beside_ns += whole.layers[DEVICE];
	}
	add(&cell->spans[DEVICE], whole.layers[DEVICE]);
	add(&cell->spans[TOTAL], whole.total);
	add_whole(cell, &whole);
	if (sizes_apart)
		add_by_size(index, &whole);
}

// Counts an I/O that is complete, and frees its entry. The times are those of its request.
__attribute__((noinline)) int finish(struct io *io, u64 inserted, u64 issued, u64 now)
{
	if (!io)
		return 0;
	// Where the device has a volatile cache, the kernel issues a flush of its own in place of an empty one,
	// which then lasts from its request to its completion.
	if (!issued && !io->bytes)
		issued = io->flags & GOT ? io->got : io->queued;
	if (!issued) {
		tally(LOST);
	} else {
		if (io->cell != NOT_OURS)
			add_ours(io, inserted, issued, now);
		if (io->cell == NOT_OURS || all_processes)
			add_other(io, between(issued, now));
	}
	leave_device(io);
	io->bio = 0;
	return 0;
}

SEC("tp_btf/block_rq_complete")
int rq_complete(u64 *context)
{
	struct request *request = (void *)context[0];
	u32 bytes = context[2];
	struct bio *bio = request->bio;
	if (!bio) {
		int device = flushed_device(request);
		if (device >= 0)
			event_ends(&flushes, device, number_of(request));
		return 0;
	}
	struct io *head = io_of(bio);
	if (!head) {
		// Without bytes it is the end of a flush around data that has been counted.
		if (bytes && watched(bio) >= 0)
			tally(UNSEEN);
		return 0;
	}
	u64 now = now_ns(), inserted = head->inserted, issued = head->issued;
	for (int i = 0; i < CHAIN_MAX && bio; i++) {
		u32 size = bio->bi_iter.bi_size;
		if (size > bytes) {
			// The request completes in parts; this bio is the first of the rest.
			struct io *rest = io_of(bio);
			if (rest) {
				rest->inserted = inserted;
				rest->issued = issued;
			}
			break;
		}
		bytes -= size;
		finish(i ? io_of(bio) : head, inserted, issued, now);
		bio = bio->bi_next;
	}
	return 0;
}

// In drivers that have no requests, an I/O is in the device from its entry on.
SEC("tp_btf/block_bio_complete")
int bio_complete(u64 *context)
{
	struct bio *bio = (void *)context[1];
	struct io *io = io_of(bio);
	if (!io)
		return 0;
	if (bio->bi_status == TRY_AGAIN)
		io->bio = 0;
	else
		finish(io, 0, io->queued, now_ns());
	return 0;
}

// A journal writes one transaction at a time.
SEC("tp_btf/jbd2_start_commit")
int start_commit(u64 *context)
{
	struct journal_s *journal = (void *)context[0];
	if (watched_disk(journal->j_fs_dev->bd_disk) >= 0)
		event_begins(number_of(journal));
	return 0;
}

SEC("tp_btf/jbd2_end_commit")
int end_commit(u64 *context)
{
	struct journal_s *journal = (void *)context[0];
	event_ends(&journals, watched_disk(journal->j_fs_dev->bd_disk), number_of(journal));
	return 0;
}

char license_text[] SEC("license") = "Dual MIT/GPL";
