import type { Scope } from './scope.ts';

/**
 * A duty of a person that comes before anything else: a password that they did not choose, one that is too old, a second factor
 * that is missing.
 */
export type Restriction = 'initial password' | 'old password' | 'no second factor';

/** The caller of an operation, as the credential proved it. */
export interface Caller {
  /** `local` is the principal of a plane on stdio: it reads, plans and applies, and never approves. */
  readonly kind: 'user' | 'agent' | 'device' | 'enrolment' | 'local' | 'anonymous';
  /** Actor in the audit log: `user:ada`, `agent:planner`, `device:web-1`, `token:ci`. */
  readonly subject: string;
  /** Uid of the account, AgentIdentity, MeshPeer or Token behind the credential. */
  readonly id: string;
  readonly name: string;
  /**
   * Id of the account that answers for the call: the caller's own, or of who made the root agent. Absent where no person
   * is known.
   */
  readonly person?: string;
  /** For an agent: ids of itself and its ancestors, nearest first; the last is the root agent. */
  readonly line?: readonly string[];
  /** Uid of the credential, for revocation and audit. */
  readonly tokenId: string;
  /** Workspaces the caller is a member of; `all` for a platform admin's session. */
  readonly workspaces: readonly string[] | 'all';
  /** Empty where the caller is no member. */
  scopesIn(workspace: string): ReadonlySet<Scope>;
  /** True for a session: a person, who may approve. API and agent tokens are false. */
  readonly interactive: boolean;
  /** Such a session can do nothing but what lifts it. */
  readonly restriction?: Restriction;
  /** Address of the MCP endpoint that the credential is for; absent for one that counts everywhere. */
  readonly audience?: string;
  /** When the credential ends, milliseconds. */
  readonly expiresAt?: number;
  /**
   * Returns the caller that the credential proves now: it may have ended since the call was admitted. Absent where no
   * credential was shown, as on stdio.
   *
   * @throws MeshError where the credential proves nobody any more
   */
  readonly again?: () => Promise<Caller>;
}

/** The caller of a public operation, and of a call that the control plane makes itself: it proved nothing and holds no scope. */
export const ANONYMOUS: Caller = Object.freeze({
  kind: 'anonymous',
  subject: 'anonymous',
  id: '',
  name: 'anonymous',
  tokenId: '',
  workspaces: [],
  scopesIn: () => new Set<Scope>(),
  interactive: false,
});

/** Uid of the API token that a person calls with. A session has none: it may end, and what its person asked for stays. */
export function apiTokenOf({ kind, interactive, tokenId }: Pick<Caller, 'kind' | 'interactive' | 'tokenId'>) {
  return kind === 'user' && !interactive ? tokenId : undefined;
}

/** Id of whom the caller shares its places with, in queues and in turns: an agent with its root agent and all below that. */
export function principalOf({ id, line }: Pick<Caller, 'id' | 'line'>): string {
  return line?.at(-1) ?? id;
}
