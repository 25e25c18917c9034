import type { Isolation } from '../isolation.ts';
import type { CLibrary } from './c-library.ts';

const O_RDWR_NOCTTY_CLOEXEC = 2 | 0o400 | 0o2_000_000;
/** ioctl_tty(2). */
const TIOCSPTLCK = 0x4004_5431;
const TIOCGPTN = 0x8004_5430;
const TCGETS = 0x5401;
const TCSETS = 0x5402;
/** struct termios of the kernel: four words, the second of which is of the output. */
const TERMIOS_WORDS = 9;
const OPOST = 1;
const TIOCSCTTY = 0x540e;
const TIOCSWINSZ = 0x5414;
const PIDFD_OPEN = 434;
const PIDFD_GETFD = 438;

type Terminals = Pick<
  Isolation,
  'takeDescriptor' | 'duplicate' | 'openTerminal' | 'makeOutputRaw' | 'resizeTerminal' | 'beginSession'
>;

export function linuxTerminals(library: CLibrary): Terminals {
  const open = library.take('int open(const char *file, int flags)');
  const close = library.take('int close(int fd)');
  const control = library.take('int ioctl(int fd, ulong request, _Inout_ void *argument)');
  const setSession = library.take('int setsid()');
  const copyTo = library.take('int dup2(int fd, int to)');
  const openProcess = library.takeCall(PIDFD_OPEN, 'pidfd_open', ['int pid', 'uint flags']);
  const takeFrom = library.takeCall(PIDFD_GETFD, 'pidfd_getfd', ['int pidfd', 'int fd', 'uint flags']);
  return {
    takeDescriptor(pid, fd) {
      const process = openProcess(pid, 0);
      try {
        return takeFrom(process, fd, 0);
      } finally {
        close(process);
      }
    },
    duplicate: (fd, to) => void copyTo(fd, to),
    openTerminal(devpts) {
      const master = open(`${devpts}/ptmx`, O_RDWR_NOCTTY_CLOEXEC);
      control(master, TIOCSPTLCK, new Int32Array([0]));
      const number = new Int32Array(1);
      control(master, TIOCGPTN, number);
      return { master, slave: open(`${devpts}/${number[0]}`, O_RDWR_NOCTTY_CLOEXEC) };
    },
    makeOutputRaw(fd) {
      const modes = new Uint32Array(TERMIOS_WORDS);
      control(fd, TCGETS, modes);
      modes[1] = (modes[1] ?? 0) & ~OPOST;
      control(fd, TCSETS, modes);
    },
    resizeTerminal: (fd, columns, rows) => void control(fd, TIOCSWINSZ, new Uint16Array([rows, columns, 0, 0])),
    beginSession(terminal) {
      setSession();
      if (terminal !== undefined) control(terminal, TIOCSCTTY, null);
    },
  };
}
