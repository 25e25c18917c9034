/** The system calls of a sandboxed command, as a program of classic BPF for seccomp(2). Pure. */

/** Numbers of system calls, by processor; the later ones are the same everywhere. */
const DENIED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  setns: [308, 268],
  // The sandbox ends with its first process, which another process must not stop or change.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  quotactl: [179, 60],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  syslog: [103, 116],
  vhangup: [153, 58],
};
/** As of a kernel without them: libraries then do without. `clone3` has its flags where a filter cannot read. */
const ABSENT: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
};
/** The first three are x86's alone. */
const X64_DENIED = { modify_ldt: 154, iopl: 172, ioperm: 173 };

const PROCESSORS = {
  x64: { audit: 0xc000_003e, column: 0, clone: 56, unshare: 272, ioctl: 16, socket: 41, socketpair: 53 },
  arm64: { audit: 0xc000_00b7, column: 1, clone: 220, unshare: 97, ioctl: 29, socket: 198, socketpair: 199 },
} as const;
export type Processor = keyof typeof PROCESSORS;

/** From this number on: system calls of x32, whose numbers are others. */
const X32 = 0x4000_0000;

/** Namespaces of clone(2) and unshare(2): mount, cgroup, UTS, IPC, user, PID, network; the last is of unshare alone. */
const NEW_NAMESPACES = 0x7e02_0000;
const NEW_TIME_NAMESPACE = 0x80;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
/** Any, ICMP, TCP, UDP, ICMPv6: others would load modules of the kernel, and no policy permits their packets. */
const IP_PROTOCOLS = [0, 1, 6, 17, 58];

const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

/** struct seccomp_data: the lower half of each argument, which is all that the kernel reads of these. */
const NUMBER_AT = 0;
const PROCESSOR_AT = 4;
const argumentAt = (index: number) => 16 + 8 * index;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

const load = (at: number): Instruction => [0x20, 0, 0, at];
const answer = (k: number): Instruction => [0x06, 0, 0, k];
const ALLOW = answer(0x7fff_0000);
const KILL = answer(0x8000_0000);
const fail = (errno: number) => answer(0x0005_0000 | errno);
/** Runs the rest where the value is this one, and skips it otherwise. */
const where = (value: number, rest: readonly Instruction[]): Instruction[] => [[0x15, 0, rest.length, value], ...rest];
const whereAtLeast = (value: number, rest: readonly Instruction[]): Instruction[] => [
  [0x35, 0, rest.length, value],
  ...rest,
];
const whereAnyBit = (bits: number, rest: readonly Instruction[]): Instruction[] => [
  [0x45, 0, rest.length, bits],
  ...rest,
];

/** Returns the program's bytes: a struct sock_filter for each instruction. */
export function systemCallFilter(processor: Processor): Uint8Array {
  const { audit, column, ...numbers } = PROCESSORS[processor];
  const each = (calls: object, errno: number) =>
    Object.values(calls).flatMap((number: number | readonly number[]) =>
      where(typeof number === 'number' ? number : (number[column] ?? 0), [fail(errno)]),
    );
  const ipSocket = [
    load(argumentAt(2)),
    ...IP_PROTOCOLS.flatMap((protocol) => where(protocol, [ALLOW])),
    fail(EPROTONOSUPPORT),
  ];
  const program: Instruction[] = [
    load(PROCESSOR_AT),
    // Another processor's numbers mean other calls.
    [0x15, 1, 0, audit],
    KILL,
    load(NUMBER_AT),
    ...whereAtLeast(X32, [fail(ENOSYS)]),
    ...each(DENIED, EPERM),
    ...each(ABSENT, ENOSYS),
    ...(processor === 'x64' ? each(X64_DENIED, EPERM) : []),
    ...where(numbers.clone, [load(argumentAt(0)), ...whereAnyBit(NEW_NAMESPACES, [fail(EPERM)]), ALLOW]),
    ...where(numbers.unshare, [
      load(argumentAt(0)),
      ...whereAnyBit(NEW_NAMESPACES | NEW_TIME_NAMESPACE, [fail(EPERM)]),
      ALLOW,
    ]),
    ...where(numbers.ioctl, [
      load(argumentAt(1)),
      ...[TIOCSTI, TIOCLINUX].flatMap((request) => where(request, [fail(EPERM)])),
      ALLOW,
    ]),
    ...where(numbers.socketpair, [load(argumentAt(0)), ...where(AF_UNIX, [ALLOW]), fail(EAFNOSUPPORT)]),
    ...where(numbers.socket, [
      load(argumentAt(0)),
      ...where(AF_UNIX, [ALLOW]),
      ...where(AF_NETLINK, [load(argumentAt(2)), ...where(NETLINK_ROUTE, [ALLOW]), fail(EPROTONOSUPPORT)]),
      ...[AF_INET, AF_INET6].flatMap((family) => where(family, ipSocket)),
      fail(EAFNOSUPPORT),
    ]),
    ALLOW,
  ];
  const bytes = new DataView(new ArrayBuffer(8 * program.length));
  for (const [index, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    bytes.setUint16(8 * index, code, true);
    bytes.setUint8(8 * index + 2, jumpTrue);
    bytes.setUint8(8 * index + 3, jumpFalse);
    bytes.setUint32(8 * index + 4, k, true);
  }
  return new Uint8Array(bytes.buffer);
}
