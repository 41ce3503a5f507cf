/*
 * An engine for fathom: a disk in memory, of as many MiB as its argument says. See
 * docs/CUSTOM-ENGINES.md.
 *
 * cc -O2 -o memory memory.c
 * fathom run --name=a --ioengine=custom --custom_program=./memory --custom_arguments=64 --rw=randread --bs=4k
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY = 3, SUBMITTED, COMPLETED };
enum { READ, WRITE, TRIM, SYNC, END };

struct header {
	char magic[8];
	uint32_t version, depth;
	uint64_t slot_bytes, buffers, submissions, completions;
	uint32_t entries, files;
	uint64_t setup, setup_bytes, sizes;
	char pad0[48];
	_Alignas(64) _Atomic uint32_t submission_tail;
	_Alignas(64) _Atomic uint32_t submission_head;
	_Alignas(64) _Atomic uint32_t completion_tail;
	_Alignas(64) _Atomic uint32_t completion_head;
	_Alignas(64) _Atomic uint32_t state;
};

struct submission {
	uint32_t slot, operation, file, reserved;
	uint64_t offset, length;
};

struct completion {
	uint32_t slot, reserved;
	int64_t result;
};

static char *disk;
static uint64_t disk_bytes;

static int64_t carry_out(const struct submission *io, char *buffer)
{
	if (io->operation == SYNC)
		return 0;
	if (io->offset > disk_bytes || io->length > disk_bytes - io->offset)
		return -EINVAL;
	switch (io->operation) {
	case READ:
		memcpy(buffer, disk + io->offset, io->length);
		return io->length;
	case WRITE:
		memcpy(disk + io->offset, buffer, io->length);
		return io->length;
	case TRIM:
		memset(disk + io->offset, 0, io->length);
		return io->length;
	}
	return -EOPNOTSUPP;
}

int main(int argc, char **argv)
{
	struct stat stat;
	uint64_t bell = 1;

	disk_bytes = (uint64_t)(argc > 1 ? atoi(argv[1]) : 16) << 20;
	disk = calloc(1, disk_bytes);
	if (!disk || fstat(MEMORY, &stat))
		return 1;
	char *memory = mmap(NULL, stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
	if (memory == MAP_FAILED)
		return 1;
	struct header *header = (struct header *)memory;
	if (memcmp(header->magic, "FATHOMIO", 8) || header->version != 1) {
		fprintf(stderr, "memory: another protocol\n");
		return 1;
	}
	uint64_t *sizes = (uint64_t *)(memory + header->sizes);
	for (uint32_t file = 0; file < header->files; file++)
		sizes[file] = disk_bytes;
	atomic_store_explicit(&header->state, 1, memory_order_release);
	if (write(COMPLETED, &bell, 8) != 8)
		return 1;

	struct submission *submissions = (struct submission *)(memory + header->submissions);
	struct completion *completions = (struct completion *)(memory + header->completions);
	uint32_t head = 0, tail = 0, mask = header->entries - 1;
	while (read(SUBMITTED, &bell, 8) == 8) {
		while (head != atomic_load_explicit(&header->submission_tail, memory_order_acquire)) {
			struct submission io = submissions[head & mask];
			atomic_store_explicit(&header->submission_head, ++head, memory_order_release);
			if (io.operation == END)
				return 0;
			char *buffer = memory + header->buffers + io.slot * header->slot_bytes;
			struct completion *completion = &completions[tail & mask];
			completion->slot = io.slot;
			completion->result = carry_out(&io, buffer);
			atomic_store_explicit(&header->completion_tail, ++tail, memory_order_release);
		}
		bell = 1;
		if (write(COMPLETED, &bell, 8) != 8)
			return 1;
	}
	return 1;
}
