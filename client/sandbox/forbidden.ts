/** Settings of a host that decide on namespaces. */
export interface NamespaceFacts {
  readonly isRoot: boolean;
  readonly hasPrograms: boolean;
  /** By name below /proc/sys; left out where it is not there. */
  readonly settings: Readonly<Partial<Record<(typeof SETTINGS)[number], string>>>;
  /** A container runtime or service filters system calls. */
  readonly isFiltered: boolean;
}

export const SETTINGS = [
  'user/max_user_namespaces',
  'user/max_net_namespaces',
  'user/max_mnt_namespaces',
  'user/max_pid_namespaces',
  'kernel/unprivileged_userns_clone',
  'kernel/apparmor_restrict_unprivileged_userns',
] as const;

const AS_ROOT =
  'Start the container with --privileged, or with --cap-add SYS_ADMIN --cap-add NET_ADMIN --cap-add SYS_PTRACE --security-opt apparmor=unconfined --device /dev/net/tun';
const AS_USER =
  'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined --device /dev/net/tun';

/** Returns what forbids namespaces, and what permits them, for people. @param said by the program that failed */
export function forbiddenBy({ isRoot, hasPrograms, settings, isFiltered }: NamespaceFacts, said: string): string {
  if (!hasPrograms)
    return 'the program unshare or setpriv is missing. Install it; on Debian: apt-get install util-linux';
  const exhausted = SETTINGS.find((name) => name.startsWith('user/') && settings[name] === '0');
  const sysctl = (name: string, value: string) => `sudo sysctl ${name.replaceAll('/', '.')}=${value}`;
  if (exhausted !== undefined && !(isRoot && exhausted === 'user/max_user_namespaces'))
    return `${exhausted.replaceAll('/', '.')} is 0. Permit them: ${sysctl(exhausted, '10000')}`;
  if (!isRoot && settings['kernel/unprivileged_userns_clone'] === '0')
    return `kernel.unprivileged_userns_clone is 0. Permit them: ${sysctl('kernel/unprivileged_userns_clone', '1')}`;
  if (!isRoot && settings['kernel/apparmor_restrict_unprivileged_userns'] === '1')
    return `AppArmor restricts the user namespaces of ordinary users. Run it with sudo, or permit them: ${sysctl('kernel/apparmor_restrict_unprivileged_userns', '0')}`;
  if (isFiltered) return `a filter of system calls, as Docker sets it, forbids them. ${isRoot ? AS_ROOT : AS_USER}`;
  if (isRoot)
    return `the system says: ${said}. It needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run it as root with all capabilities`;
  return `the system says: ${said}. Run it with sudo`;
}
