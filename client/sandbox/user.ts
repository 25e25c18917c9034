type Environment = Readonly<Record<string, string | undefined>>;

/** The user that a sandboxed command runs as. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` and its group: they own no file. */
const NOBODY = 65_534;

/** Returns the user behind sudo for root, else `nobody`: never root, and never root's group. Others run it as themselves. */
export function sandboxUser(caller: SandboxUser, { SUDO_UID, SUDO_GID }: Environment): SandboxUser {
  if (caller.uid !== 0) return caller;
  const uid = idIn(SUDO_UID);
  return uid === undefined ? { uid: NOBODY, gid: NOBODY } : { uid, gid: idIn(SUDO_GID) ?? NOBODY };
}

function idIn(text = ''): number | undefined {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  // 2^32 - 1 means "leave it as it is" to the system calls.
  return id > 0 && id < 0xffff_ffff ? id : undefined;
}

const PASSED_VARIABLES = /^(?:PATH|LANG|LC_[A-Z]+|TERM)$/;

/**
 * Returns the environment of a sandboxed command: an allow list, so that no credential of the caller is in it.
 *
 * @param named what the caller passes besides
 */
export function sandboxEnvironment(
  caller: Environment,
  named: readonly string[],
  own: Environment,
): Record<string, string> {
  const passed = Object.entries(caller).filter(([name]) => PASSED_VARIABLES.test(name) || named.includes(name));
  const all = [...passed, ...Object.entries(own)];
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
