import { arch } from 'node:process';
import type { BoundRestrictions, Isolation } from '../isolation.ts';
import type { CLibrary } from './c-library.ts';

/** mount(2), mount_setattr(2), umount2(2). */
const MS_NOSUID = 2;
const MS_NODEV = 4;
const MS_NOEXEC = 8;
const MS_BIND = 4_096;
const MS_REC = 16_384;
const MS_PRIVATE = 262_144;
const MNT_DETACH = 2;
const AT_FDCWD = -100;
const AT_RECURSIVE = 0x8000;
const MOUNT_ATTR_RDONLY = 1n;
const MOUNT_ATTR_NOSUID = 2n;
const MOUNT_ATTR_NODEV = 4n;
/** struct mount_attr: four words of 64 bits. */
const MOUNT_ATTR_BYTES = 32;
const MOUNT_SETATTR = 442;
const PIVOT_ROOT = { x64: 155, arm64: 41 };

/** Nothing on these is a program or a device, but for what a terminal needs. */
const FLAGS = { tmpfs: MS_NOSUID | MS_NODEV, proc: MS_NOSUID | MS_NODEV | MS_NOEXEC, devpts: MS_NOSUID | MS_NOEXEC };

type Mounts = Pick<Isolation, 'mount' | 'makeMountsPrivate' | 'bind' | 'swapRoot' | 'enterRoot' | 'sealRoot'>;

export function linuxMounts(library: CLibrary): Mounts {
  const mount = library.take(
    'int mount(const char *source, const char *target, const char *type, ulong flags, const char *data)',
  );
  const unmount = library.take('int umount2(const char *target, int flags)');
  const setAttributes = library.takeCall(MOUNT_SETATTR, 'mount_setattr', [
    'int directory',
    'const char *path',
    'uint flags',
    'void *attributes',
    'size_t size',
  ]);
  const pivot = library.takeCall(PIVOT_ROOT[arch as 'x64' | 'arm64'], 'pivot_root', [
    'const char *root',
    'const char *former',
  ]);
  const restrict = (target: string, { isReadOnly, hasDevices = false }: BoundRestrictions, isWhole: boolean): void => {
    const attributes = new DataView(new ArrayBuffer(MOUNT_ATTR_BYTES));
    const set = MOUNT_ATTR_NOSUID | (isReadOnly ? MOUNT_ATTR_RDONLY : 0n) | (hasDevices ? 0n : MOUNT_ATTR_NODEV);
    attributes.setBigUint64(0, set, true);
    setAttributes(AT_FDCWD, target, isWhole ? AT_RECURSIVE : 0, new Uint8Array(attributes.buffer), MOUNT_ATTR_BYTES);
  };
  return {
    mount: (type, target, data) => void mount(type, target, type, FLAGS[type], data),
    makeMountsPrivate: () => void mount(null, '/', null, MS_REC | MS_PRIVATE, null),
    bind(source, target, restrictions) {
      mount(source, target, null, MS_BIND | MS_REC, null);
      restrict(target, restrictions, true);
    },
    sealRoot: () => restrict('/', { isReadOnly: true }, false),
    swapRoot(directory, former) {
      pivot(directory, former);
      process.chdir('/');
    },
    enterRoot(directory) {
      process.chdir(directory);
      // The former root lies on the new one for a moment: pivot_root(2).
      pivot('.', '.');
      unmount('.', MNT_DETACH);
      process.chdir('/');
    },
  };
}
