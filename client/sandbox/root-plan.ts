import path from 'node:path';
import type { SandboxUser } from './user.ts';

/** A step on the way to the file system of a sandbox. Sources are paths of the host without symbolic links. */
export type RootStep =
  | { readonly kind: 'directory' | 'own-directory'; readonly path: string }
  | { readonly kind: 'memory'; readonly path: string; readonly mode: number }
  | {
      readonly kind: 'bind';
      readonly path: string;
      readonly source: string;
      readonly access: 'read' | 'write' | 'device';
    }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string };

/** The file system of the host, as far as a plan needs it. */
export interface HostFiles {
  /** Undefined where there is nothing. */
  kindOf(file: string): 'file' | 'directory' | 'link' | 'other' | undefined;
  linkTarget(file: string): string;
  /** Without symbolic links. @throws Error where it leads nowhere */
  real(file: string): string;
}

export interface RootPlanOptions {
  readonly user: SandboxUser;
  /** Paths that are bound read-only where they are: of the program, the present directory, and those the caller named. */
  readonly bound: readonly string[];
  readonly workdir?: string;
  /** Paths that stay hidden where they are within something bound. */
  readonly hidden: readonly string[];
}

/** A home that ends with the sandbox. */
export const SANDBOX_HOME = '/home/sandbox';
export const SANDBOX_HOST = 'sandbox';

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store', '/gnu/store'];
/** Settings of programs that are the same for everybody. The rest of /etc may tell of the host. */
const SETTINGS =
  'alternatives bash.bashrc ca-certificates ca-certificates.conf crypto-policies debian_version fonts gai.conf host.conf inputrc java java-11-openjdk java-17-openjdk java-21-openjdk ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime login.defs magic mime.types nanorc networks openssl os-release perl pki profile profile.d protocols python3 python3.10 python3.11 python3.12 python3.13 python3.14 services shells ssl static terminfo timezone vimrc';
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Returns the steps by which the file system of a sandbox is made, in their order: nothing of the host but what is named here. */
export function rootPlan({ user, bound, workdir, hidden }: RootPlanOptions, host: HostFiles): RootStep[] {
  const bind = (file: string): RootStep[] => bindOf(file, host, 'read');
  const etc = SETTINGS.split(' ').map((name) => `/etc/${name}`);
  const own = bound.filter((file) => !SYSTEM.some((one) => isWithin(file, one)));
  const mounts = [...own.flatMap(bind), ...(workdir === undefined ? [] : bindOf(workdir, host, 'write'))];
  const covers = hidden.filter((file) => host.kindOf(file) === 'directory' && isWithinAny(file, mounts));
  return [
    ...['/proc', '/dev', '/etc', '/var', '/run', '/root', '/sys'].map((one) => directory(one)),
    ...SYSTEM.flatMap(bind),
    ...etc.flatMap(bind),
    ...accounts(user),
    ...deviceSteps(),
    { kind: 'memory', path: '/tmp', mode: 0o1777 },
    { kind: 'link', path: '/var/tmp', target: '../tmp' },
    { kind: 'memory', path: '/home', mode: 0o755 },
    { kind: 'own-directory', path: SANDBOX_HOME },
    // A place below another one comes after it.
    ...mounts.sort((a, b) => a.path.length - b.path.length),
    ...covers.map((file): RootStep => ({ kind: 'memory', path: file, mode: 0o555 })),
  ];
}

const directory = (file: string): RootStep => ({ kind: 'directory', path: file });

/** A link stays a link, so that programs see the paths that they know. */
function bindOf(file: string, host: HostFiles, access: 'read' | 'write'): RootStep[] {
  const kind = host.kindOf(file);
  if (kind === undefined || kind === 'other') return [];
  if (kind === 'link' && isLinkWithinSystem(host.linkTarget(file), file))
    return [{ kind: 'link', path: file, target: host.linkTarget(file) }];
  try {
    return [{ kind: 'bind', path: file, source: host.real(file), access }];
  } catch {
    return [];
  }
}

function isLinkWithinSystem(target: string, file: string): boolean {
  const absolute = path.resolve(path.dirname(file), target);
  return isWithin(absolute, '/usr') || isWithin(absolute, '/etc/static') || isWithin(absolute, '/nix/store');
}

/** Names of the users that are seen in there, and no others of the host. */
function accounts({ uid, gid }: SandboxUser): RootStep[] {
  const name = uid === 65_534 ? 'nobody' : 'sandbox';
  const nobody = uid === 65_534 ? '' : 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n';
  const group = gid === 65_534 ? 'nogroup' : 'sandbox';
  const noGroup = gid === 65_534 ? '' : 'nogroup:x:65534:\n';
  const file = (base: string, text: string): RootStep => ({ kind: 'file', path: `/etc/${base}`, text });
  return [
    file('passwd', `root:x:0:0:root:/root:/bin/sh\n${name}:x:${uid}:${gid}::${SANDBOX_HOME}:/bin/sh\n${nobody}`),
    file('group', `root:x:0:\ntty:x:5:\n${group}:x:${gid}:\n${noGroup}`),
    file('hostname', `${SANDBOX_HOST}\n`),
    file('hosts', `127.0.0.1 localhost ${SANDBOX_HOST}\n::1 localhost\n`),
    file('nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n'),
  ];
}

function deviceSteps(): RootStep[] {
  const link = (name: string, target: string): RootStep => ({ kind: 'link', path: `/dev/${name}`, target });
  return [
    ...DEVICES.map(
      (name): RootStep => ({
        kind: 'bind',
        path: `/dev/${name}`,
        source: `/dev/${name}`,
        access: 'device',
      }),
    ),
    ...[link('fd', '/proc/self/fd'), link('ptmx', 'pts/ptmx')],
    ...['stdin', 'stdout', 'stderr'].map((name, fd) => link(name, `/proc/self/fd/${fd}`)),
    directory('/dev/pts'),
    { kind: 'memory', path: '/dev/shm', mode: 0o1777 },
  ];
}

function isWithinAny(file: string, mounts: readonly RootStep[]): boolean {
  return mounts.some((mount) => isWithin(file, mount.path));
}

/** Tells whether a path is another or lies below it. */
export function isWithin(file: string, parent: string): boolean {
  return file === parent || file.startsWith(parent.endsWith('/') ? parent : `${parent}/`);
}
