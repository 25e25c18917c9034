import { CONTROL_PACE, PACED_BYTES } from '../nats/limits.ts';
import { mayNameReply, nodePermissions, OPEN_PERMISSIONS } from '../nats/permissions.ts';
import { SourceLimit } from '../stun/rate.ts';

/** `token`: whose subject it is sent it, as the servers see to. `open`: anybody may have. */
export type AdmissionMode = 'open' | 'token';

export interface AdmittedMessage {
  /** The node that is proven to have sent it. */
  readonly from: string | undefined;
  readonly reply: string | undefined;
}

const CONTROL = /^mesh\.control\.([^.]+)\.([^.]+)\./;

/**
 * Limits messages to the control plane on servers that do not do so themselves, as the embedded bus does: their rate, and the
 * subjects that may receive replies.
 */
export class Admission {
  readonly #mode: AdmissionMode;
  readonly #node = new SourceLimit(CONTROL_PACE.node.perSecond, CONTROL_PACE.node.burst);
  readonly #all = new SourceLimit(CONTROL_PACE.strangers.perSecond, CONTROL_PACE.strangers.burst);

  constructor(mode: AdmissionMode) {
    this.#mode = mode;
  }

  /** Undefined for one beyond its rate. */
  admit(subject: string, reply: string | undefined, bytes: number, now: number): AdmittedMessage | undefined {
    const [, workspace, peer] = CONTROL.exec(subject) ?? [];
    const cost = Math.ceil((bytes + 1) / PACED_BYTES);
    if (this.#mode === 'open' || workspace === undefined || peer === undefined) {
      if (!this.#all.take('', now, cost)) return undefined;
      return { from: undefined, reply: allowed(reply, OPEN_PERMISSIONS) };
    }
    if (!this.#node.take(peer, now, cost)) return undefined;
    return { from: peer, reply: allowed(reply, nodePermissions(workspace, peer)) };
  }
}

/** The control plane answers with its own rights, so only where the sender itself may. */
function allowed(reply: string | undefined, permissions: Parameters<typeof mayNameReply>[0]): string | undefined {
  return reply !== undefined && reply !== '' && mayNameReply(permissions, reply) ? reply : undefined;
}
