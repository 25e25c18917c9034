import { covers, hasWildcard, overlaps } from './subject.ts';

/** The rights of a connection. A deny wins; an absent `allow` means everything not denied. */
export interface Permissions {
  readonly publish: Rules;
  readonly subscribe: Rules;
}

interface Rules {
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
}

/** Subjects that only the control plane hears. */
const CONTROL_SUBJECTS = 'mesh.control.>';
/** Subjects that only the control plane sends on. */
const GRAPH_SUBJECTS = 'mesh.*.*.graph';

/** The open bus (docs/bus.md): everything but reading control requests and forging graph pushes. */
export const OPEN_PERMISSIONS: Permissions = {
  publish: { deny: [GRAPH_SUBJECTS] },
  subscribe: { deny: [CONTROL_SUBJECTS] },
};

/** The control plane's own connection. */
export const CONTROL_PERMISSIONS: Permissions = { publish: { deny: [] }, subscribe: { deny: [] } };

/** A node with a credential: its own subjects and inbox, its own control requests, signals inside its workspace. */
export function nodePermissions(workspace: string, peer: string): Permissions {
  return {
    publish: { allow: [`mesh.${workspace}.*.signal`, `mesh.control.${workspace}.${peer}.>`], deny: [GRAPH_SUBJECTS] },
    subscribe: {
      allow: [`mesh.${workspace}.${peer}.signal`, `mesh.${workspace}.${peer}.graph`, `_INBOX.${peer}.>`],
      deny: [CONTROL_SUBJECTS],
    },
  };
}

/** May it publish on this subject? */
export function mayPublish({ publish }: Permissions, subject: string): boolean {
  return isAllowed(publish, subject);
}

/**
 * May it name this subject as the place for a reply? The control plane answers there with its own rights, so on the
 * open bus it must be a subject the sender could publish to, and with a credential one it could hear.
 */
export function mayNameReply(permissions: Permissions, reply: string): boolean {
  if (permissions.subscribe.allow !== undefined) return isAllowed(permissions.subscribe, reply);
  return isAllowed(permissions.publish, reply) && isAllowed(permissions.subscribe, reply);
}

/** `filtered`: it may, but messages on denied subjects inside the wildcard are withheld. */
export function maySubscribe(permissions: Permissions, subject: string): 'yes' | 'filtered' | 'no' {
  const { subscribe } = permissions;
  if (!isAllowed(subscribe, subject)) return 'no';
  if (!hasWildcard(subject)) return 'yes';
  return subscribe.deny.some((pattern) => overlaps(pattern, subject)) ? 'filtered' : 'yes';
}

/** May a message on this subject reach a filtered subscription? */
export function mayReceive({ subscribe }: Permissions, subject: string): boolean {
  return !subscribe.deny.some((pattern) => covers(pattern, subject));
}

function isAllowed({ allow, deny }: Rules, subject: string): boolean {
  if (deny.some((pattern) => covers(pattern, subject))) return false;
  return allow === undefined || allow.some((pattern) => covers(pattern, subject));
}
