import type { Isolation } from '../isolation.ts';
import type { CLibrary } from './c-library.ts';
import type { Koffi } from './libc.ts';

/** prctl(2), capset(2), setrlimit(2), keyctl(2). */
const PR_SET_PDEATHSIG = 1;
const PR_SET_SECCOMP = 22;
const PR_CAPBSET_READ = 23;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_MODE_FILTER = 2;
const SIGKILL = 9;
const CAPABILITY_VERSION_3 = 0x2008_0522;
const MAX_CAPABILITY = 63;
const RLIMIT_CORE = 4;
const INSTRUCTION_BYTES = 8;
const CLOSE_RANGE = 436;
const CLOSE_RANGE_CLOEXEC = 4;
const LAST_FD = 0xffff_ffff;
const KEYCTL = { x64: 250, arm64: 219 };
const KEYCTL_JOIN_SESSION_KEYRING = 1;

type Rights = Pick<Isolation, 'setHostName' | 'endWithParent' | 'dropBoundingSet' | 'confine'>;

export function linuxRights(koffi: Koffi, library: CLibrary): Rights {
  const control = library.take('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
  const tryControl = library.takeQuiet('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
  const setCapabilities = library.take('int capset(void *header, void *sets)');
  const limit = library.take('int setrlimit(int resource, void *limits)');
  const setHostName = library.take('int sethostname(const char *name, size_t length)');
  const tryKeyring = library.takeQuiet('long syscall(long number, long operation, void *name)');
  const closeRange = library.takeCall(CLOSE_RANGE, 'close_range', ['uint first', 'uint last', 'uint flags']);
  return {
    setHostName: (name) => void setHostName(name, Buffer.byteLength(name)),
    endWithParent: () => void control(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0),
    dropBoundingSet() {
      for (let one = 0; one <= MAX_CAPABILITY; one++) {
        if (tryControl(PR_CAPBSET_READ, one, 0, 0, 0) === 1) control(PR_CAPBSET_DROP, one, 0, 0, 0);
      }
    },
    confine(filter) {
      // A keyring of its own; a kernel without keyrings has none to share.
      tryKeyring(KEYCTL[process.arch as 'x64' | 'arm64'], KEYCTL_JOIN_SESSION_KEYRING, null);
      // 1 byte: no core, and none to a program that the host's core_pattern names, core(5).
      // Descriptors of the caller besides standard input, output and error.
      closeRange(3, LAST_FD, CLOSE_RANGE_CLOEXEC);
      limit(RLIMIT_CORE, new BigUint64Array([1n, 1n]));
      setCapabilities(new Uint32Array([CAPABILITY_VERSION_3, 0]), new Uint32Array(6));
      control(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      const memory = koffi.alloc('uint8_t', filter.length);
      new Uint8Array(koffi.view(memory, filter.length)).set(filter);
      // struct sock_fprog.
      const program = new DataView(new ArrayBuffer(16));
      program.setUint16(0, filter.length / INSTRUCTION_BYTES, true);
      program.setBigUint64(8, koffi.address(memory), true);
      const programAt = koffi.alloc('uint8_t', 16);
      new Uint8Array(koffi.view(programAt, 16)).set(new Uint8Array(program.buffer));
      control(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, koffi.address(programAt), 0, 0);
    },
  };
}
