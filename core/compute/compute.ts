import type { Caller } from '../base/caller.ts';
import type { CallContext, Face } from '../base/operation.ts';
import type { Scope } from '../base/scope.ts';
import { answerTooLarge } from './answer-size.ts';
import type { ComputationCall } from './computation.ts';

/** Runs heavy operations away from the thread that serves everyone. */
export interface Compute<Services> {
  /**
   * The checked answer of an operation, as JSON text. What it writes goes through the services of its caller.
   *
   * @throws MeshError of the operation; `unavailable` where too many wait, it took too long, its thread died, or the
   * caller has gone.
   */
  run(call: HeavyCall, services: Services, signal: AbortSignal): Promise<JsonText>;
}

/** Does computations away from the thread that serves everyone. */
export interface RemoteCompute {
  /** As {@link Compute.run}; it writes nothing. */
  compute(call: ComputationCall): Promise<JsonText>;
}

/** A call of a heavy operation as plain data, so that it can be sent to a thread. */
export interface HeavyCall {
  readonly operation: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly caller: PlainCaller;
  readonly workspace: string;
  readonly requestId: string;
  readonly face: Face;
  readonly origin: string;
}

/** A {@link Caller} without its functions, which no thread can be sent: the scopes it has where the call is made. */
export type PlainCaller = Omit<Caller, 'scopesIn' | 'again'> & { readonly scopes: readonly Scope[] };

/** The longest answer that is read again for a face which is not made of JSON text, bytes: some 60 ms. */
const MAX_PARSED_BYTES = 8 * 1024 * 1024;

/** JSON in UTF-8. Its bytes can be handed from one thread to another without being copied. */
export class JsonText {
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
  }

  /** @throws MeshError `payload_too_large` */
  parse(): unknown {
    if (this.bytes.length > MAX_PARSED_BYTES) {
      throw answerTooLarge('Ask for less at once, or over REST.', MAX_PARSED_BYTES);
    }
    return JSON.parse(new TextDecoder().decode(this.bytes));
  }
}

/** Returns the heavy call for an authenticated and admitted context. */
export function heavyCallOf(
  operation: string,
  raw: HeavyCall['raw'],
  { caller, workspace, requestId, face, origin }: Omit<CallContext<unknown>, 'services' | 'signal' | 'onStage'>,
): HeavyCall {
  return { operation, raw, caller: plainCaller(caller, workspace), workspace, requestId, face, origin };
}

function plainCaller({ scopesIn, again: _, ...plain }: Caller, workspace: string): PlainCaller {
  return { ...plain, scopes: [...scopesIn(workspace)] };
}

/** The caller again; it has no scopes anywhere but where the call is made. */
export function callerOf({ caller, workspace }: Pick<HeavyCall, 'caller' | 'workspace'>): Caller {
  const { scopes, ...plain } = caller;
  const [held, none] = [new Set(scopes), new Set<Scope>()];
  return { ...plain, scopesIn: (id) => (id === workspace ? held : none) };
}
