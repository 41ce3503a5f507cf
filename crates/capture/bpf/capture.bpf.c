// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sends what threads ask of files, and what reaches the block devices, to user space.
//
//   sys_enter, sys_exit      a call begins and ends
//   io_uring_submit_req      io_uring takes a request; io_uring_complete answers it
//   mm_filemap_fault         a thread touched a mapped page that is not in its page table
//   mm_filemap_add_to_page_cache  a page is about to be read into the cache
//   block_io_start           a request is made; block_rq_issue: the driver gets it;
//                            block_rq_complete: the device has answered
//   block_bio_queue          the same for drivers that have no requests; block_bio_complete
//   sched_switch             CPU time of the threads, and the end of a fault that waited
//   sched_process_fork, sched_process_exec, sched_process_exit: the lives of threads
//
// Most calls of most threads are none of ours: each program looks for the reason to return first.
// A file is known by device, inode and generation; its path is sent when it is first seen.
// Offsets of kernel structures are relocated when the programs are loaded (CO-RE): the structures
// below name only what is read. `cargo xtask bpf` compiles this file.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static __attribute__((always_inline))
#define GLOBAL __attribute__((noinline))
#define KERNEL __attribute__((preserve_access_index))
#define MAP(name) name SEC(".maps")
#define FIELD_NUMBER(name, value) int (*name)[value]
#define FIELD_TYPE(name, type) type *name
// The structure around one of its fields. A plain offsetof() would not be relocated.
#define AROUND(type, field, inner) ((type *)((u64)(inner) - (u64)&((type *)0)->field))
#define READ_FIELD(to, field) read_kernel(&(to), sizeof(to), &(field))

// Numbers of the kernel's interface for BPF programs.
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_LRU_HASH = 9, MAP_RING = 27 };
enum { ANY = 0, NO_EXIST = 1, NO_WAKEUP = 1 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static long (*update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*remove)(void *map, const void *key) = (void *)3;
static u64 (*now_ns)(void) = (void *)5;
static u64 (*current_pid_tgid)(void) = (void *)14;
static long (*read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*read_user_text)(void *to, u32 size, const void *from) = (void *)114;
static long (*read_kernel_text)(void *to, u32 size, const void *from) = (void *)115;
static u64 (*current_ancestor_group)(int level) = (void *)123;
static void *(*ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*ring_submit)(void *record, u64 flags) = (void *)132;
static struct task_struct *(*current_task)(void) = (void *)158;

struct qstr {
	const u8 *name;
} KERNEL;

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
} KERNEL;

struct hlist_node {
	struct hlist_node *next;
} KERNEL;

struct hlist_head {
	struct hlist_node *first;
} KERNEL;

struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_rdev;
	s64 i_size;
	u32 i_generation;
	struct hlist_head i_dentry;
} KERNEL;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
} KERNEL;

struct vfsmount {
	struct dentry *mnt_root;
} KERNEL;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} KERNEL;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} KERNEL;

struct file {
	u32 f_mode;
	u32 f_flags;
	struct inode *f_inode;
	struct path f_path;
	s64 f_pos;
} KERNEL;

struct fdtable {
	u32 max_fds;
	struct file **fd;
} KERNEL;

struct files_struct {
	struct fdtable *fdt;
} KERNEL;

struct fs_struct {
	struct path pwd;
} KERNEL;

struct task_struct {
	int pid;
	int tgid;
	struct files_struct *files;
	struct fs_struct *fs;
	char comm[16];
} KERNEL;

struct kiocb {
	struct file *ki_filp;
	s64 ki_pos;
} KERNEL;

struct io_kiocb {
	struct file *file;
	u8 opcode;
} KERNEL;

struct io_rw {
	struct kiocb kiocb;
	u64 addr;
	u32 len;
	u32 flags;
} KERNEL;

struct io_sync {
	s64 len;
	s64 off;
	int flags;
	int mode;
} KERNEL;

struct io_uring_cqe {
	int res;
} KERNEL;

struct address_space {
	struct inode *host;
} KERNEL;

struct folio {
	struct address_space *mapping;
	unsigned long index;
} KERNEL;

struct gendisk {
	int major;
	int first_minor;
} KERNEL;

struct block_device {
	struct gendisk *bd_disk;
	u64 bd_start_sect;
} KERNEL;

struct bvec_iter {
	u64 bi_sector;
	u32 bi_size;
} KERNEL;

struct bio {
	struct block_device *bi_bdev;
	u32 bi_opf;
	u8 bi_status;
	struct bvec_iter bi_iter;
} KERNEL;

struct request_queue {
	struct gendisk *disk;
} KERNEL;

struct request {
	struct request_queue *q;
	u32 cmd_flags;
	u32 __data_len;
	u64 __sector;
} KERNEL;

// The kernel's numbers.
enum { TYPE_MASK = 0170000, REGULAR = 0100000, DIRECTORY = 0040000, BLOCK = 0060000 };
enum { F_CREATED = 0x100000, EBADF = 9, EIO = 5 };
enum { PUNCH_OR_ZERO = 0x02 | 0x10, COLLAPSE_OR_INSERT = 0x08 | 0x20, WRITE_DSYNC = 2, WRITE_SYNC = 4 };
enum { SYNC_DATA_ONLY = 1 };
enum { OP_MASK = 0xff, OP_READ = 0, OP_WRITE = 1, OP_FLUSH = 2, OP_DISCARD = 3, OP_SECURE_ERASE = 5,
       OP_ZONE_APPEND = 7, OP_WRITE_ZEROES = 9 };
enum { META = 1 << 12, FUA = 1 << 17, AHEAD = 1 << 19 };
#define PREFLUSH (1 << 18)

// The same numbers are in src/event.rs: operations,
enum { READ = 0, WRITE = 1, FSYNC = 2, FDATASYNC = 3, SYNC_RANGE = 4, SYNC_ALL = 5, ALLOCATE = 6,
       DISCARD = 7, TRUNCATE = 8, OPEN = 9, CLOSE = 10, FAULT = 11, FLUSH = 12, RENAME = 13,
       UNLINK = 14 };
// flags,
enum { E_DIRECT = 1, E_DSYNC = 2, E_SYNC = 4, E_APPEND = 8, E_ASYNC = 16, E_POSITION = 32, E_FUA = 64,
       E_METADATA = 128, E_AHEAD = 256, E_CREATED = 512 };
// and those of this interface alone,
enum { AT_DEVICE = 1 << 16, NO_CPU = 1 << 17, NO_END = 1 << 18, NO_RESULT = 1 << 19 };
// kinds of records,
enum { EVENT = 1, A_FILE = 2, A_THREAD = 3, A_NAME = 4 };
// where a call has its arguments: descriptor, length, offset.
enum { AT_POSITION = 1, AT_OFFSET = 2, VECTOR = 3, VECTOR_OFFSET = 4, WHOLE_FILE = 5, EVERYTHING = 6,
       RANGE = 7, MODE_RANGE = 8, SIZE = 9, OPENS = 10, CLOSES = 11, NAME_HERE = 12, NAME_AT = 13,
       TWO_NAMES_HERE = 14, TWO_NAMES_AT = 15, NAME_SIZED = 16, SUBMITS = 17, REAPS = 18,
       SENDS_FILE = 19, COPIES = 20 };
enum { LOST = 0, LEFT_OUT = 1, TALLIES = 4 };
enum { LISTED = 0, EVERYONE = 1, GROUP = 2 };
enum { PATH_SIZE = 1792, NAME_SIZE = 256, DEPTH = 32, VECTOR_MAX = 64, BATCH_MAX = 256, NAME = 16,
       TYPED_SIZE = 1024 };

// Set by the loader.
const volatile u32 own_tgid = 0;
const volatile u32 whose = LISTED;
const volatile u64 group_id = 0;
const volatile u32 group_level = 0;
// Only files on this device; 0: all.
const volatile u32 only_device = 0;
const volatile u32 is_arm = 0;
const volatile u32 page_shift = 12;
// Flags of open(2), which differ between architectures.
const volatile u32 flag_direct = 0;
// Whether disks are listed; otherwise all count.
const volatile u32 some_disks = 0;

struct identity {
	u64 ino;
	u32 dev;
	u32 generation;
};

struct event {
	u32 kind;
	u32 operation;
	u32 flags;
	u32 thread;
	u32 process;
	u32 pad;
	struct identity file;
	u64 begun;
	u64 ended;
	u64 offset;
	u64 length;
	s64 result;
	u64 cpu;
};

struct file_record {
	u32 kind;
	u32 mode;
	struct identity file;
	u64 size;
	u32 length;
	// The path begins at the root of its filesystem.
	u32 within;
	// Names from the last to the first, each with a zero byte.
	char path[PATH_SIZE];
};

// A name as a call has it, and the directory where it begins unless it begins with a slash.
struct name_record {
	u32 kind;
	u32 thread;
	// 1 for the new name.
	u32 which;
	u32 length;
	char directory[PATH_SIZE];
	char name[TYPED_SIZE];
};

struct thread_record {
	u32 kind;
	u32 thread;
	u32 process;
	char name[NAME];
};

// A thread whose calls are seen.
struct thread {
	// CPU time: until it was last switched away, when it was switched in (0: unknown or away), at
	// the end of its last event, at the beginning of its call.
	u64 cpu;
	u64 since;
	u64 cpu_last;
	u64 cpu_begun;
	// The call that it is in; 0: none.
	u32 call;
	u32 has_last;
	u64 begun;
	// A page fault on this page of this inode; `misses` if the page was not in the cache.
	u64 fault_begun;
	u64 cpu_fault;
	u64 fault_inode;
	u64 fault_page;
	u64 misses;
	u64 descriptor;
	u64 offset;
	u64 length;
	// Where a copying call writes: descriptor, and where it keeps the offset (0: in the file).
	u64 to;
	u64 to_offset;
	u32 rw_flags;
	u32 is_announced;
	// The file it used last, which has been announced; not left out if `is_file`.
	u64 inode;
	struct identity file;
	u32 is_file;
	// The file that is closed was found.
	u32 is_found;
};

struct {
	FIELD_NUMBER(type, MAP_HASH);
	FIELD_NUMBER(max_entries, 32768);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, struct thread);
} MAP(threads);

// Operation and shape of each call, by its number: see `shape`.
struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, 512);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u32);
} MAP(calls);

struct {
	FIELD_NUMBER(type, MAP_LRU_HASH);
	FIELD_NUMBER(max_entries, 65536);
	FIELD_TYPE(key, struct identity);
	FIELD_TYPE(value, u32);
} MAP(files);

struct {
	FIELD_NUMBER(type, MAP_LRU_HASH);
	FIELD_NUMBER(max_entries, 16384);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u32);
} MAP(submitters);

// An I/O that does not block its thread: of io_uring by its request, of libaio by iocb and process.
struct flight_key {
	u64 id;
	u64 process;
};

struct flight {
	u64 begun;
	u64 cpu;
	u64 offset;
	u64 length;
	u32 operation;
	u32 flags;
	u32 thread;
	u32 process;
	struct identity file;
};

struct {
	FIELD_NUMBER(type, MAP_LRU_HASH);
	FIELD_NUMBER(max_entries, 65536);
	FIELD_TYPE(key, struct flight_key);
	FIELD_TYPE(value, struct flight);
} MAP(flights);

// A request or bio of a device, by its address.
struct request_in_flight {
	u64 begun;
	u64 offset;
	u32 length;
	u32 operation;
	u32 flags;
	u32 thread;
	u32 process;
	u32 dev;
};

struct {
	FIELD_NUMBER(type, MAP_LRU_HASH);
	FIELD_NUMBER(max_entries, 32768);
	FIELD_TYPE(key, u64);
	FIELD_TYPE(value, struct request_in_flight);
} MAP(requests);

// Disks whose requests count, and 2 if its bios do.
struct {
	FIELD_NUMBER(type, MAP_HASH);
	FIELD_NUMBER(max_entries, 1024);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u32);
} MAP(disks);

struct {
	FIELD_NUMBER(type, MAP_ARRAY);
	FIELD_NUMBER(max_entries, TALLIES);
	FIELD_TYPE(key, u32);
	FIELD_TYPE(value, u64);
} MAP(tallies);

struct {
	FIELD_NUMBER(type, MAP_RING);
	FIELD_NUMBER(max_entries, 1 << 24);
} MAP(ring);

INLINE void tally(u32 which)
{
	u64 *count = lookup(&tallies, &which);
	if (count)
		__sync_fetch_and_add(count, 1);
}

// Threads.

INLINE int is_in_group(void)
{
	return current_ancestor_group(group_level) == group_id;
}

// The thread if it is watched; NULL otherwise.
INLINE struct thread *watched(u64 ids)
{
	u32 tid = ids, tgid = ids >> 32;
	struct thread *thread = lookup(&threads, &tid);
	if (whose == GROUP && !is_in_group())
		return 0;
	if (thread || whose == LISTED)
		return thread;
	if (tgid == own_tgid)
		return 0;
	struct thread fresh = {};
	fresh.since = now_ns();
	if (update(&threads, &tid, &fresh, ANY)) {
		tally(LOST);
		return 0;
	}
	return lookup(&threads, &tid);
}

INLINE u64 cpu_at(struct thread *thread, u64 now)
{
	if (!thread->since)
		thread->since = now;
	return thread->cpu + (now - thread->since);
}

struct name {
	char text[NAME];
};

GLOBAL int send_name_of_thread(u64 ids, const struct name *name)
{
	if (!name)
		return 0;
	struct thread_record *record = ring_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		tally(LOST);
		return 0;
	}
	record->kind = A_THREAD;
	record->thread = ids;
	record->process = ids >> 32;
	__builtin_memcpy(record->name, name->text, NAME);
	ring_submit(record, NO_WAKEUP);
	return 1;
}

// Sends the name of a thread.
INLINE int send_thread(u64 ids, struct task_struct *task)
{
	struct name name = {};
	READ_FIELD(name.text, task->comm);
	return send_name_of_thread(ids, &name);
}

// Files.

INLINE u64 pseudo(struct super_block *block)
{
	unsigned long magic = 0;
	READ_FIELD(magic, block->s_magic);
	// proc, sysfs, cgroup, cgroup2, debugfs, tracefs, bpf, anonymous inodes, securityfs, configfs.
	return magic == 0x9fa0 || magic == 0x62656572 || magic == 0x27e0eb || magic == 0x63677270 ||
	       magic == 0x64626720 || magic == 0x74726163 || magic == 0xcafe4a11 || magic == 0x09041934 ||
	       magic == 0x73636673 || magic == 0x62656570;
}

// Writes the names of a path from the last to the first, each with a zero byte. Returns its length.
INLINE u32 walk(char *path, struct dentry *dentry, struct vfsmount *mount)
{
	struct dentry *root = 0, *parent = 0;
	u32 length = 0;
	if (mount)
		READ_FIELD(root, mount->mnt_root);
	for (int i = 0; i < DEPTH; i++) {
		if (mount && dentry == root) {
			// Up through the mount.
			struct mount *whole = AROUND(struct mount, mnt, mount);
			struct mount *above = 0;
			READ_FIELD(above, whole->mnt_parent);
			if (!above || above == whole)
				break;
			READ_FIELD(dentry, whole->mnt_mountpoint);
			mount = &above->mnt;
			READ_FIELD(root, mount->mnt_root);
			continue;
		}
		parent = 0;
		READ_FIELD(parent, dentry->d_parent);
		if (!parent || parent == dentry)
			break;
		const u8 *name = 0;
		READ_FIELD(name, dentry->d_name.name);
		if (length > PATH_SIZE - NAME_SIZE)
			break;
		long read = read_kernel_text(path + length, NAME_SIZE, name);
		if (read < 0 || read > NAME_SIZE)
			break;
		length += read;
		dentry = parent;
	}
	return length;
}

// Sends the path of a file. The mount is 0 if it is not known.
GLOBAL int send_file(u64 dentry_address, u64 mount_address, u64 inode_address, u64 ino, u64 dev_generation)
{
	struct dentry *dentry = (void *)dentry_address;
	struct vfsmount *mount = (void *)mount_address;
	struct inode *inode = (void *)inode_address;
	struct file_record *record = ring_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		tally(LOST);
		return 0;
	}
	u16 mode = 0;
	READ_FIELD(mode, inode->i_mode);
	record->kind = A_FILE;
	record->mode = mode;
	record->file.ino = ino;
	record->file.dev = dev_generation;
	record->file.generation = dev_generation >> 32;
	record->size = 0;
	READ_FIELD(record->size, inode->i_size);
	record->within = !mount;
	record->length = walk(record->path, dentry, mount);
	ring_submit(record, NO_WAKEUP);
	return 1;
}
// Finds out which file an inode is, and sends its path if that is new. 0 if it is left out.
INLINE int identify(struct identity *file, struct inode *inode, struct dentry *dentry,
		    struct vfsmount *mount)
{
	u16 mode = 0;
	struct super_block *block = 0;
	READ_FIELD(mode, inode->i_mode);
	u32 type = mode & TYPE_MASK;
	if (type != REGULAR && type != DIRECTORY && type != BLOCK)
		return 0;
	READ_FIELD(block, inode->i_sb);
	u32 dev = 0;
	u64 ino = 0;
	u32 generation = 0;
	READ_FIELD(dev, block->s_dev);
	if (type == BLOCK) {
		u32 disk = 0;
		READ_FIELD(disk, inode->i_rdev);
		if (only_device && only_device != disk)
			return 0;
		dev = disk;
	} else {
		unsigned long number = 0;
		if (only_device && only_device != dev)
			return 0;
		if (dev >> 20 == 0 && pseudo(block))
			return 0;
		READ_FIELD(number, inode->i_ino);
		READ_FIELD(generation, inode->i_generation);
		ino = number;
	}
	file->ino = ino;
	file->dev = dev;
	file->generation = generation;
	if (!lookup(&files, file)) {
		u32 one = 1;
		if (send_file((u64)dentry, (u64)mount, (u64)inode, ino, (u64)generation << 32 | dev))
			update(&files, file, &one, ANY);
	}
	return 1;
}

// The same for an open file, remembered by the thread that uses it.
INLINE int identify_file(struct thread *thread, struct file *file)
{
	struct inode *inode = 0;
	unsigned long ino = 0;
	u32 generation = 0;
	READ_FIELD(inode, file->f_inode);
	if (!inode)
		return 0;
	READ_FIELD(ino, inode->i_ino);
	READ_FIELD(generation, inode->i_generation);
	if (thread->inode == (u64)inode && thread->file.ino == ino &&
	    thread->file.generation == generation)
		return thread->is_file;
	struct dentry *dentry = 0;
	struct vfsmount *mount = 0;
	READ_FIELD(dentry, file->f_path.dentry);
	READ_FIELD(mount, file->f_path.mnt);
	thread->is_file = identify(&thread->file, inode, dentry, mount);
	// A block device has another number than its inode: it is looked up each time.
	thread->inode = (u64)inode;
	return thread->is_file;
}

INLINE struct file *file_of(u64 descriptor)
{
	struct task_struct *task = current_task();
	// The verifier knows these types: no helper is called, and a null pointer reads as 0.
	struct file **all = task->files->fdt->fd, *file = 0;
	read_kernel(&file, sizeof(file), all + (u32)descriptor);
	return file;
}

INLINE int is_open(u64 descriptor)
{
	struct task_struct *task = current_task();
	return (u32)descriptor < task->files->fdt->max_fds && file_of(descriptor);
}

INLINE u32 flags_of(struct file *file)
{
	u32 open = 0, flags = 0;
	READ_FIELD(open, file->f_flags);
	if (open & flag_direct)
		flags |= E_DIRECT;
	if ((open & 04010000) == 04010000)
		flags |= E_SYNC;
	else if (open & 010000)
		flags |= E_DSYNC;
	if (open & 02000)
		flags |= E_APPEND;
	return flags;
}

INLINE u32 flags_of_write(u32 rw_flags)
{
	if (rw_flags & WRITE_SYNC)
		return E_SYNC;
	return rw_flags & WRITE_DSYNC ? E_DSYNC : 0;
}

// Sends an event of the application.
INLINE void send(struct thread *thread, u64 ids, u32 operation, u32 flags, u64 begun, u64 ended,
		 u64 offset, u64 length, s64 result, u64 cpu)
{
	if (!thread->is_announced)
		thread->is_announced = send_thread(ids, current_task());
	struct event *event = ring_reserve(&ring, sizeof(*event), 0);
	if (!event) {
		tally(LOST);
		return;
	}
	event->kind = EVENT;
	event->operation = operation;
	event->flags = flags;
	event->thread = ids;
	event->process = ids >> 32;
	event->file = thread->file;
	event->begun = begun;
	event->ended = ended;
	event->offset = offset;
	event->length = length;
	event->result = result;
	event->cpu = cpu;
	ring_submit(event, NO_WAKEUP);
}

// Calls.

struct arguments {
	u64 first, second, third, fourth, fifth, sixth;
};

INLINE void read_arguments(struct arguments *to, u64 registers)
{
	u64 words[8];
	if (is_arm) {
		read_kernel(words, 48, (void *)registers);
		to->first = words[0];
		to->second = words[1];
		to->third = words[2];
		to->fourth = words[3];
		to->fifth = words[4];
		to->sixth = words[5];
	} else {
		// r10, r9, r8, ax, cx, dx, si, di
		read_kernel(words, 64, (void *)(registers + 56));
		to->first = words[7];
		to->second = words[6];
		to->third = words[5];
		to->fourth = words[0];
		to->fifth = words[2];
		to->sixth = words[1];
	}
}

// The sum of the lengths of a vector; 0 if it cannot be read.
GLOBAL u64 vector_length(u64 vector, u64 parts)
{
	u64 sum = 0;
	if (parts > VECTOR_MAX)
		return 0;
	for (u32 i = 0; i < VECTOR_MAX; i++) {
		u64 length = 0;
		if (i >= parts)
			break;
		if (read_user(&length, sizeof(length), (void *)(vector + 16 * i + 8)))
			return 0;
		sum += length;
	}
	return sum;
}

// Sends an I/O that did not block its thread.
INLINE void send_flight(struct flight *flight, u64 offset, s64 result)
{
	struct event *event = ring_reserve(&ring, sizeof(*event), 0);
	if (!event) {
		tally(LOST);
		return;
	}
	event->kind = EVENT;
	event->operation = flight->operation;
	event->flags = flight->flags;
	event->thread = flight->thread;
	event->process = flight->process;
	event->file = flight->file;
	event->begun = flight->begun;
	event->ended = now_ns();
	event->offset = offset;
	event->length = flight->length;
	event->result = result;
	event->cpu = flight->cpu;
	ring_submit(event, NO_WAKEUP);
}

struct iocb {
	u64 data;
	u32 key;
	u32 rw_flags;
	u16 opcode;
	u16 priority;
	u32 descriptor;
	u64 buffer;
	u64 length;
	u64 offset;
};

enum { AIO_READ = 0, AIO_WRITE = 1, AIO_FSYNC = 2, AIO_FDSYNC = 3, AIO_READV = 7, AIO_WRITEV = 8 };

// Notes one I/O of io_submit(2).
GLOBAL int submit_aio(u64 place, u64 now, u64 cpu, u64 ids)
{
	u32 tid = ids;
	u64 address = 0;
	struct iocb iocb = {};
	struct thread *thread = lookup(&threads, &tid);
	if (!thread || read_user(&address, sizeof(address), (void *)place) ||
	    read_user(&iocb, sizeof(iocb), (void *)address))
		return 0;
	struct file *file = file_of(iocb.descriptor);
	if (!file || !identify_file(thread, file)) {
		tally(LEFT_OUT);
		return 0;
	}
	u32 opcode = iocb.opcode;
	struct flight flight = {};
	flight.begun = now;
	flight.cpu = cpu;
	flight.thread = ids;
	flight.process = ids >> 32;
	flight.offset = iocb.offset;
	flight.length = iocb.length;
	flight.flags = flags_of(file) | E_ASYNC;
	flight.file = thread->file;
	if (opcode == AIO_READ || opcode == AIO_READV)
		flight.operation = READ;
	else if (opcode == AIO_WRITE || opcode == AIO_WRITEV)
		flight.operation = WRITE;
	else if (opcode == AIO_FSYNC || opcode == AIO_FDSYNC)
		flight.operation = opcode == AIO_FSYNC ? FSYNC : FDATASYNC;
	else
		return 0;
	if (flight.operation > WRITE)
		flight.offset = flight.length = 0;
	if (opcode == AIO_READV || opcode == AIO_WRITEV)
		flight.length = vector_length(iocb.buffer, iocb.length);
	if (flight.operation == WRITE)
		flight.flags |= flags_of_write(iocb.rw_flags);
	if (!thread->is_announced)
		thread->is_announced = send_thread(ids, current_task());
	struct flight_key key = { address, ids >> 32 };
	struct flight *before = lookup(&flights, &key);
	if (before) {
		// It was complete, which the program saw without a call.
		before->flags |= NO_END | NO_RESULT;
		send_flight(before, before->offset, 0);
	}
	if (update(&flights, &key, &flight, ANY))
		tally(LOST);
	return 1;
}

struct io_event {
	u64 data;
	u64 iocb;
	s64 result;
	s64 second;
};

// One I/O that io_getevents(2) returned.
GLOBAL int reap_aio(u64 place, u64 ids)
{
	struct io_event event = {};
	if (read_user(&event, sizeof(event), (void *)place))
		return 0;
	struct flight_key key = { event.iocb, ids >> 32 };
	struct flight *flight = lookup(&flights, &key);
	if (!flight)
		return 0;
	send_flight(flight, flight->offset, event.result);
	remove(&flights, &key);
	return 1;
}

// CPU time since the last event of a thread. Its flag says if that is unknown.
INLINE u64 cpu_before(struct thread *thread, u64 cpu, u32 *flags)
{
	if (!thread->has_last)
		*flags |= NO_CPU;
	return cpu - thread->cpu_last;
}

// Sends the fault that is over.
INLINE void send_fault(struct thread *thread, u64 ids, u64 ended, u32 flags)
{
	u64 size = 1ull << page_shift;
	struct inode *inode = (void *)thread->fault_inode;
	struct hlist_node *alias = 0;
	struct identity kept = thread->file;
	READ_FIELD(alias, inode->i_dentry.first);
	struct dentry *dentry = AROUND(struct dentry, d_u.d_alias, alias);
	thread->misses = 0;
	if (identify(&thread->file, inode, alias ? dentry : 0, 0)) {
		u64 before = cpu_before(thread, thread->cpu_fault, &flags);
		send(thread, ids, FAULT, flags, thread->fault_begun, ended, thread->fault_page << page_shift,
		     size, size, before);
		thread->cpu_last = thread->cpu_fault;
		thread->has_last = 1;
	}
	thread->file = kept;
}

INLINE void submit_all_aio(struct thread *thread, u64 ids, struct arguments *arguments)
{
	u64 now = now_ns();
	u64 cpu = cpu_at(thread, now);
	u64 before = cpu - thread->cpu_last;
	thread->cpu_last = cpu;
	thread->has_last = 1;
	u64 count = arguments->second;
	for (u32 i = 0; i < BATCH_MAX; i++) {
		if (i >= count)
			return;
		submit_aio(arguments->third + 8 * i, now, before, ids);
		before = 0;
	}
	if (count > BATCH_MAX)
		tally(LOST);
}

#define HERE 0xffffff9c

// Sends a name that a call has, before the event of the call.
GLOBAL int send_name(u64 ids, u32 which, u64 directory, u64 name)
{
	struct task_struct *task = current_task();
	struct dentry *dentry = 0;
	struct vfsmount *mount = 0;
	if ((u32)directory == HERE) {
		struct fs_struct *place = task->fs;
		READ_FIELD(dentry, place->pwd.dentry);
		READ_FIELD(mount, place->pwd.mnt);
	} else {
		struct file *file = file_of(directory);
		READ_FIELD(dentry, file->f_path.dentry);
		READ_FIELD(mount, file->f_path.mnt);
	}
	struct name_record *record = ring_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		tally(LOST);
		return 0;
	}
	record->kind = A_NAME;
	record->thread = ids;
	record->which = which;
	record->name[0] = 0;
	read_user_text(record->name, TYPED_SIZE, (void *)name);
	record->length = walk(record->directory, dentry, mount);
	ring_submit(record, NO_WAKEUP);
	return 1;
}

// Sends one side of a call that copies: the read or the write. `place` is where the call keeps its offset,
// which it has moved on; 0: the position of the file. Returns whether that side is a file.
GLOBAL int send_side(u64 ids, u32 operation, u64 descriptor, u64 place, u64 result)
{
	u32 tid = ids, flags = 0;
	struct thread *thread = lookup(&threads, &tid);
	if (!thread)
		return 0;
	struct file *file = file_of(descriptor);
	if (!file || !identify_file(thread, file))
		return 0;
	s64 position = 0, done = result;
	flags = flags_of(file);
	if (place) {
		read_user(&position, sizeof(position), (void *)place);
	} else {
		READ_FIELD(position, file->f_pos);
		flags |= E_POSITION;
	}
	u64 cpu = cpu_before(thread, thread->cpu_begun, &flags);
	send(thread, ids, operation, flags, thread->begun, now_ns(), position - (done > 0 ? done : 0),
	     thread->length, done, cpu);
	thread->cpu_last = thread->cpu_begun;
	thread->has_last = 1;
	return 1;
}

SEC("tp_btf/sys_enter")
int call_begins(u64 *context)
{
	u32 number = context[1];
	u32 *call = lookup(&calls, &number);
	if (!call || !*call)
		return 0;
	u64 ids = current_pid_tgid();
	struct thread *thread = watched(ids);
	if (!thread)
		return 0;
	struct arguments arguments;
	read_arguments(&arguments, context[0]);
	u32 shape = *call >> 8;
	thread->fault_begun = 0;
	if (thread->misses)
		send_fault(thread, ids, 0, NO_END);
	if (shape == SUBMITS) {
		submit_all_aio(thread, ids, &arguments);
		return 0;
	}
	thread->call = *call;
	thread->rw_flags = 0;
	thread->offset = 0;
	thread->length = 0;
	thread->descriptor = arguments.first;
	thread->is_found = 0;
	switch (shape) {
	case AT_POSITION:
		thread->length = arguments.third;
		break;
	case AT_OFFSET:
		thread->length = arguments.third;
		thread->offset = arguments.fourth;
		break;
	case VECTOR_OFFSET:
		thread->offset = arguments.fourth;
		thread->rw_flags = arguments.sixth;
		// Falls through.
	case VECTOR:
		thread->length = vector_length(arguments.second, arguments.third);
		break;
	case RANGE:
		thread->offset = arguments.second;
		thread->length = arguments.third;
		break;
	case MODE_RANGE:
		thread->rw_flags = arguments.second;
		thread->offset = arguments.third;
		thread->length = arguments.fourth;
		break;
	case NAME_SIZED:
		send_name(ids, 0, HERE, arguments.first);
		// Falls through.
	case SIZE:
		thread->offset = arguments.second;
		break;
	case NAME_HERE:
		send_name(ids, 0, HERE, arguments.first);
		break;
	case NAME_AT:
		send_name(ids, 0, arguments.first, arguments.second);
		break;
	case TWO_NAMES_HERE:
		send_name(ids, 0, HERE, arguments.first);
		send_name(ids, 1, HERE, arguments.second);
		break;
	case TWO_NAMES_AT:
		send_name(ids, 0, arguments.first, arguments.second);
		send_name(ids, 1, arguments.third, arguments.fourth);
		break;
	case REAPS:
		thread->offset = arguments.fourth;
		break;
	case SENDS_FILE:
		thread->descriptor = arguments.second;
		thread->offset = arguments.third;
		thread->to = arguments.first;
		thread->to_offset = 0;
		thread->length = arguments.fourth;
		break;
	case COPIES:
		thread->offset = arguments.second;
		thread->to = arguments.third;
		thread->to_offset = arguments.fourth;
		thread->length = arguments.fifth;
		break;
	case CLOSES: {
		struct file *file = file_of(arguments.first);
		thread->is_found = file && identify_file(thread, file);
		break;
	}
	}
	u64 now = now_ns();
	thread->cpu_begun = cpu_at(thread, now);
	thread->begun = now;
	return 0;
}

SEC("tp_btf/sys_exit")
int call_ends(u64 *context)
{
	u64 ids = current_pid_tgid();
	u32 tid = ids;
	struct thread *thread = lookup(&threads, &tid);
	if (!thread || !thread->call)
		return 0;
	s64 result = context[1];
	u32 operation = (thread->call & 0xff) - 1, shape = thread->call >> 8, flags = 0;
	u64 now = now_ns(), offset = thread->offset, length = thread->length;
	thread->call = 0;
	if (shape == REAPS) {
		for (u32 i = 0; i < BATCH_MAX; i++) {
			if ((s64)i >= result)
				break;
			reap_aio(offset + sizeof(struct io_event) * i, ids);
		}
		return 0;
	}
	if (shape == SENDS_FILE || shape == COPIES) {
		int sides = send_side(ids, READ, thread->descriptor, offset, result) +
			    send_side(ids, WRITE, thread->to, thread->to_offset, result);
		if (sides)
			thread->cpu_last = cpu_at(thread, now_ns());
		else
			tally(LEFT_OUT);
		return 0;
	}
	// A file that is not open for this call, or no file at all.
	if (result == -EBADF && shape != OPENS && !is_open(thread->descriptor))
		return 0;
	if (shape == EVERYTHING || (shape >= NAME_HERE && shape <= NAME_SIZED)) {
		// All filesystems, or the file that the name before belongs to.
		thread->file.ino = 0;
		thread->file.dev = 0;
		thread->file.generation = 0;
		thread->inode = 0;
	} else if (shape == CLOSES) {
		if (!thread->is_found)
			return 0;
		// Another file may get the address of its inode.
		thread->inode = 0;
	} else {
		u64 descriptor = thread->descriptor;
		if (shape == OPENS) {
			if (result < 0)
				return 0;
			descriptor = result;
		}
		struct file *file = file_of(descriptor);
		if (!file || !identify_file(thread, file)) {
			tally(LEFT_OUT);
			return 0;
		}
		flags = flags_of(file);
		if (shape == OPENS) {
			u32 mode = 0;
			READ_FIELD(mode, file->f_mode);
			if (mode & F_CREATED)
				flags |= E_CREATED;
		}
		if (shape == AT_POSITION || shape == VECTOR ||
		    (shape == VECTOR_OFFSET && offset == ~0ull)) {
			s64 position = 0;
			READ_FIELD(position, file->f_pos);
			offset = position - (result > 0 ? result : 0);
			flags |= E_POSITION;
		}
		if (shape == MODE_RANGE) {
			if (thread->rw_flags & PUNCH_OR_ZERO)
				operation = DISCARD;
			else if (thread->rw_flags & COLLAPSE_OR_INSERT)
				operation = TRUNCATE;
		}
		if (operation == WRITE)
			flags |= flags_of_write(thread->rw_flags);
		if ((shape == VECTOR || shape == VECTOR_OFFSET) && !length && result > 0)
			length = result;
	}
	u64 cpu = cpu_before(thread, thread->cpu_begun, &flags);
	send(thread, ids, operation, flags, thread->begun, now, offset, length, result, cpu);
	thread->cpu_last = cpu_at(thread, now);
	thread->has_last = 1;
	return 0;
}

INLINE int identify_open(struct identity *identity, struct file *file)
{
	struct inode *inode = 0;
	struct dentry *dentry = 0;
	struct vfsmount *mount = 0;
	READ_FIELD(inode, file->f_inode);
	READ_FIELD(dentry, file->f_path.dentry);
	READ_FIELD(mount, file->f_path.mnt);
	return inode && identify(identity, inode, dentry, mount);
}

// io_uring.

enum { U_READV = 1, U_WRITEV = 2, U_FSYNC = 3, U_READ_FIXED = 4, U_WRITE_FIXED = 5, U_SYNC_RANGE = 8,
       U_FALLOCATE = 17, U_READ = 22, U_WRITE = 23, U_READV_FIXED = 58, U_WRITEV_FIXED = 59 };

// The operation of an opcode, plus one; 0 if it is none of ours.
INLINE u32 ring_operation(u32 opcode)
{
	switch (opcode) {
	case U_READV:
	case U_READ_FIXED:
	case U_READ:
	case U_READV_FIXED:
		return READ + 1;
	case U_WRITEV:
	case U_WRITE_FIXED:
	case U_WRITE:
	case U_WRITEV_FIXED:
		return WRITE + 1;
	case U_FSYNC:
		return FSYNC + 1;
	case U_SYNC_RANGE:
		return SYNC_RANGE + 1;
	case U_FALLOCATE:
		return ALLOCATE + 1;
	}
	return 0;
}

// Threads of the kernel that submit for a process belong to it.
INLINE struct thread *watched_submitter(u64 ids)
{
	struct thread *thread = watched(ids);
	if (thread || whose != LISTED)
		return thread;
	u32 tid = ids, tgid = ids >> 32;
	if (!lookup(&threads, &tgid))
		return 0;
	struct thread fresh = {};
	fresh.since = now_ns();
	update(&threads, &tid, &fresh, NO_EXIST);
	return lookup(&threads, &tid);
}

SEC("tp_btf/io_uring_submit_req")
int ring_begins(u64 *context)
{
	struct io_kiocb *request = (void *)context[0];
	u32 opcode = request->opcode;
	u32 operation = ring_operation(opcode);
	if (!operation)
		return 0;
	u64 ids = current_pid_tgid();
	struct thread *thread = watched_submitter(ids);
	if (!thread)
		return 0;
	struct flight flight = {};
	u64 now = now_ns();
	u64 cpu = cpu_at(thread, now);
	flight.operation = operation - 1;
	flight.flags = E_ASYNC;
	flight.cpu = cpu_before(thread, cpu, &flight.flags);
	flight.begun = now;
	flight.thread = ids;
	flight.process = ids >> 32;
	thread->cpu_last = cpu;
	thread->has_last = 1;
	if (flight.operation <= WRITE) {
		struct io_rw *rw = (void *)request;
		u32 length = 0, rw_flags = 0;
		s64 position = 0;
		u64 address = 0;
		READ_FIELD(position, rw->kiocb.ki_pos);
		READ_FIELD(address, rw->addr);
		READ_FIELD(length, rw->len);
		READ_FIELD(rw_flags, rw->flags);
		flight.offset = position;
		flight.length = length;
		if (opcode == U_READV || opcode == U_WRITEV || opcode == U_READV_FIXED ||
		    opcode == U_WRITEV_FIXED)
			flight.length = vector_length(address, length);
		if (flight.operation == WRITE)
			flight.flags |= flags_of_write(rw_flags);
	} else {
		struct io_sync *sync = (void *)request;
		s64 offset = 0, length = 0;
		int flags = 0, mode = 0;
		READ_FIELD(offset, sync->off);
		READ_FIELD(length, sync->len);
		READ_FIELD(flags, sync->flags);
		READ_FIELD(mode, sync->mode);
		if (opcode == U_FSYNC) {
			if (flags & SYNC_DATA_ONLY)
				flight.operation = FDATASYNC;
		} else {
			flight.offset = offset;
			flight.length = length;
		}
		if (opcode == U_FALLOCATE && mode & PUNCH_OR_ZERO)
			flight.operation = DISCARD;
	}
	if (!thread->is_announced)
		thread->is_announced = send_thread(ids, current_task());
	struct flight_key key = { (u64)request, 0 };
	if (update(&flights, &key, &flight, ANY))
		tally(LOST);
	return 0;
}

SEC("tp_btf/io_uring_complete")
int ring_ends(u64 *context)
{
	struct flight_key key = { context[1], 0 };
	struct flight *flight = lookup(&flights, &key);
	if (!flight)
		return 0;
	struct io_kiocb *request = (void *)context[1];
	struct io_uring_cqe *answer = (void *)context[2];
	struct file *file = 0;
	int result = 0;
	READ_FIELD(file, request->file);
	READ_FIELD(result, answer->res);
	if (file && identify_open(&flight->file, file)) {
		u64 offset = flight->offset;
		flight->flags |= flags_of(file);
		if (offset == ~0ull) {
			s64 position = 0;
			READ_FIELD(position, file->f_pos);
			offset = position - (result > 0 ? result : 0);
			flight->flags |= E_POSITION;
		}
		send_flight(flight, offset, result);
	} else {
		tally(LEFT_OUT);
	}
	remove(&flights, &key);
	return 0;
}

// Page faults.

SEC("tp_btf/mm_filemap_fault")
int faults(u64 *context)
{
	u64 ids = current_pid_tgid();
	struct thread *thread = watched(ids);
	if (!thread)
		return 0;
	if (thread->misses)
		send_fault(thread, ids, 0, NO_END);
	struct address_space *mapping = (void *)context[0];
	u64 now = now_ns();
	thread->fault_inode = (u64)mapping->host;
	thread->fault_page = context[1];
	thread->fault_begun = now;
	thread->cpu_fault = cpu_at(thread, now);
	return 0;
}

// Read-ahead of a page that is in the cache adds only pages behind it.
SEC("tp_btf/mm_filemap_add_to_page_cache")
int misses(u64 *context)
{
	u32 tid = current_pid_tgid();
	struct thread *thread = lookup(&threads, &tid);
	if (!thread || !thread->fault_begun)
		return 0;
	struct folio *folio = (void *)context[0];
	if ((u64)folio->mapping->host == thread->fault_inode && folio->index <= thread->fault_page)
		thread->misses = 1;
	return 0;
}

// The lives of threads.

INLINE void thread_leaves(u32 tid, u64 now)
{
	struct thread *thread = lookup(&threads, &tid);
	if (thread && thread->since) {
		thread->cpu += now - thread->since;
		thread->since = 0;
	}
}

SEC("tp_btf/sched_switch")
int switches(u64 *context)
{
	struct task_struct *from = (void *)context[1], *to = (void *)context[2];
	u64 now = now_ns();
	u32 tid = to->pid;
	if (from->pid)
		thread_leaves(from->pid, now);
	if (tid) {
		struct thread *thread = lookup(&threads, &tid);
		if (thread) {
			u64 ids = (u64)(u32)to->tgid << 32 | tid;
			thread->since = now;
			// The current thread is still the other.
			if (thread->misses && !thread->is_announced)
				thread->is_announced = send_thread(ids, to);
			if (thread->misses)
				send_fault(thread, ids, now, 0);
		}
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int forks(u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	u32 above = parent->pid, tid = child->pid;
	if (whose != LISTED || !lookup(&threads, &above))
		return 0;
	struct thread fresh = {};
	// Its CPU time is known from the beginning.
	fresh.has_last = 1;
	if (update(&threads, &tid, &fresh, ANY))
		tally(LOST);
	return 0;
}

// A program has another name than the one that started it.
SEC("tp_btf/sched_process_exec")
int execs(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	u32 tid = task->pid, old = context[1];
	struct thread *thread = lookup(&threads, &tid);
	if (!thread && old != tid) {
		// A thread that was not the first takes the number of its process.
		struct thread *before = lookup(&threads, &old);
		if (before) {
			struct thread copy = *before;
			update(&threads, &tid, &copy, ANY);
			thread = lookup(&threads, &tid);
		}
	}
	if (thread)
		thread->is_announced = 0;
	remove(&submitters, &tid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int exits(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	u32 tid = task->pid;
	remove(&threads, &tid);
	remove(&submitters, &tid);
	return 0;
}

// Devices.

INLINE void announce_submitter(u64 ids)
{
	u32 tid = ids, one = 1;
	if (lookup(&submitters, &tid))
		return;
	if (send_thread(ids, current_task()))
		update(&submitters, &tid, &one, ANY);
}

// What a request asks, plus one; 0 for commands of drivers.
INLINE u32 device_operation(u32 opf, u32 length)
{
	switch (opf & OP_MASK) {
	case OP_READ:
		return READ + 1;
	case OP_WRITE:
	case OP_ZONE_APPEND:
		return length ? WRITE + 1 : FLUSH + 1;
	case OP_FLUSH:
		return FLUSH + 1;
	case OP_DISCARD:
	case OP_SECURE_ERASE:
	case OP_WRITE_ZEROES:
		return DISCARD + 1;
	}
	return 0;
}

INLINE u32 device_flags(u32 opf)
{
	u32 flags = AT_DEVICE | NO_CPU;
	if (opf & FUA)
		flags |= E_FUA;
	if (opf & META)
		flags |= E_METADATA;
	if (opf & AHEAD)
		flags |= E_AHEAD;
	return flags;
}

INLINE u32 disk_number(struct gendisk *disk)
{
	int major = 0, minor = 0;
	READ_FIELD(major, disk->major);
	READ_FIELD(minor, disk->first_minor);
	return (u32)major << 20 | (u32)minor;
}

INLINE u32 counts(u32 dev)
{
	u32 *how = lookup(&disks, &dev);
	if (how)
		return *how;
	return some_disks ? 0 : 1;
}

INLINE void send_request(struct request_in_flight *request, u64 ended, s64 result)
{
	struct event *event = ring_reserve(&ring, sizeof(*event), 0);
	if (!event) {
		tally(LOST);
		return;
	}
	event->kind = EVENT;
	event->operation = request->operation;
	event->flags = request->flags;
	event->thread = request->thread;
	event->process = request->process;
	event->file.ino = 0;
	event->file.dev = request->dev;
	event->file.generation = 0;
	event->begun = request->begun;
	event->ended = ended;
	event->offset = request->offset;
	event->length = request->length;
	event->result = result;
	event->cpu = 0;
	ring_submit(event, NO_WAKEUP);
}

// Keeps a request, or a bio of a device without requests, until it ends.
INLINE void note_in_flight(u64 key, u32 dev, u64 begun, u64 sector, u32 length, u32 operation, u32 opf)
{
	u64 ids = current_pid_tgid();
	struct request_in_flight io = {};
	io.begun = begun;
	io.offset = sector << 9;
	io.length = length;
	io.operation = operation - 1;
	io.flags = device_flags(opf);
	io.thread = ids;
	io.process = ids >> 32;
	io.dev = dev;
	announce_submitter(ids);
	if (update(&requests, &key, &io, ANY))
		tally(LOST);
}

INLINE int note_request(u64 *context, u64 issued)
{
	struct request *request = (void *)context[0];
	u32 opf = request->cmd_flags, length = request->__data_len;
	u32 operation = device_operation(opf, length);
	if (!operation)
		return 0;
	u64 key = context[0];
	struct request_in_flight *known = lookup(&requests, &key);
	if (known && issued) {
		// Bios may have been merged into it since.
		known->begun = issued;
		known->length = length;
		known->offset = request->__sector << 9;
		return 0;
	}
	struct gendisk *disk = 0;
	struct request_queue *queue = 0;
	READ_FIELD(queue, request->q);
	READ_FIELD(disk, queue->disk);
	u32 dev = disk_number(disk);
	if (!counts(dev))
		return 0;
	note_in_flight(key, dev, issued, request->__sector, length, operation, opf);
	return 0;
}

SEC("tp_btf/block_io_start")
int request_starts(u64 *context)
{
	return note_request(context, 0);
}

SEC("tp_btf/block_rq_issue")
int request_begins(u64 *context)
{
	return note_request(context, now_ns());
}

SEC("tp_btf/block_rq_complete")
int request_ends(u64 *context)
{
	u64 key = context[0];
	struct request_in_flight *io = lookup(&requests, &key);
	if (!io || !io->begun)
		return 0;
	struct request *request = (void *)context[0];
	u32 done = context[2], error = context[1];
	// The rest of the request completes later.
	if (!error && done < request->__data_len)
		return 0;
	send_request(io, now_ns(), error ? -EIO : (s64)io->length);
	remove(&requests, &key);
	return 0;
}

SEC("tp_btf/block_bio_queue")
int bio_begins(u64 *context)
{
	struct bio *bio = (void *)context[0];
	struct block_device *device = 0;
	struct gendisk *disk = 0;
	READ_FIELD(device, bio->bi_bdev);
	READ_FIELD(disk, device->bd_disk);
	u32 dev = disk_number(disk);
	u32 *how = lookup(&disks, &dev);
	if (!how || *how != 2)
		return 0;
	u32 opf = bio->bi_opf, length = bio->bi_iter.bi_size;
	u32 operation = device_operation(opf, length);
	if (operation)
		note_in_flight(context[0], dev, now_ns(), bio->bi_iter.bi_sector, length, operation, opf);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int bio_ends(u64 *context)
{
	u64 key = context[1];
	struct request_in_flight *io = lookup(&requests, &key);
	if (!io)
		return 0;
	struct bio *bio = (void *)context[1];
	send_request(io, now_ns(), bio->bi_status ? -EIO : (s64)io->length);
	remove(&requests, &key);
	return 0;
}

char license_text[] SEC("license") = "Dual MIT/GPL";
