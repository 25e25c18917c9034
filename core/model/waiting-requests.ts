import { MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/loopback.ts';
import { memoryCells } from '../base/memory-cells.ts';
import { plainAddress } from '../base/origin.ts';
import type { Clock } from '../base/ports.ts';
import type { Cells, SharedState } from '../base/shared.ts';
import { sourceSite, wideNetwork } from './source-network.ts';

/** Requests of one kind that wait for a person, of all control planes together. */
const MAX_WAITING = 1_000;
/** Those of one site, and of one network that has many of them. */
const MAX_OF_SITE = 30;
const MAX_OF_NETWORK = 120;
/** What runs on this machine is not held back by others. */
const SPARE_HERE = 200;

interface Decidable {
  readonly decision?: unknown;
}

/** Requests of one kind that wait for a person; harmless to lose, for whoever asked asks again. */
export interface WaitingRequests<Request extends Decidable> {
  /**
   * @param origin where it came from, for a limit of requests from there
   * @throws MeshError `rate_limited` where too many wait
   */
  save(id: string, request: Request, expiresAt: number, origin: string): Promise<void>;
  find(id: string): Promise<Request | undefined>;
  /** Keeps one for longer, such as while a second person is asked. */
  keep(id: string, until: number): Promise<void>;
  /** @throws MeshError `not_found`, `conflict` where it was decided */
  decide(id: string, decision: NonNullable<Request['decision']>): Promise<Request>;
  /** @returns false where it was not there */
  remove(id: string): Promise<boolean>;
}

interface Parts {
  readonly clock: Clock;
  readonly shared?: Pick<SharedState, 'cells'> | undefined;
}

export function buildWaitingRequests<Request extends Decidable>(
  { clock, shared }: Parts,
  space: string,
  parse: (value: unknown) => Request | undefined,
): WaitingRequests<Request> {
  const cells: Cells<Request> = shared?.cells(space, parse) ?? memoryCells(clock, MAX_WAITING + SPARE_HERE);
  return {
    async save(id, request, expiresAt, origin) {
      const isHere = isLoopback(plainAddress(origin));
      const tags = isHere ? [] : [sourceSite(origin), wideNetwork(origin)];
      const { all, tagged } = await cells.count(tags);
      const [ofSite = 0, ofNetwork = 0] = tagged;
      const most = MAX_WAITING + (isHere ? SPARE_HERE : 0);
      // None makes room: a stranger could have the sign-ins of others forgotten.
      if (all >= most || ofSite >= MAX_OF_SITE || ofNetwork >= MAX_OF_NETWORK) throw tooManyWait();
      await cells.change(id, () => ({ cell: { value: request, expiresAt, tags }, result: undefined }));
    },
    async find(id) {
      return (await cells.read([id])).get(id)?.value;
    },
    keep: (id, until) =>
      cells.change(id, (cell) => ({
        cell: cell && { ...cell, expiresAt: Math.max(cell.expiresAt, until) },
        result: undefined,
      })),
    decide: (id, decision) =>
      cells.change(id, (cell) => {
        if (!cell) throw unknownRequest();
        if (cell.value.decision) throw decidedRequest();
        const value = { ...cell.value, decision };
        return { cell: { ...cell, value }, result: value };
      }),
    remove: (id) => cells.change(id, (cell) => ({ cell: undefined, result: cell !== undefined })),
  };
}

/** Returns the id of the request of a device, by the letters of the code that it shows. */
export function deviceRequestId(userCode: string): string {
  return `device-${userCode}`;
}

export function unknownRequest(): MeshError {
  return new MeshError('not_found', `This request is unknown or has ended: ${AGAIN}`);
}

export function decidedRequest(): MeshError {
  return new MeshError('conflict', `This request was decided already: ${AGAIN}`);
}

const AGAIN = 'connect the client again, or give mesh login again.';

function tooManyWait(): MeshError {
  const retryAfterSeconds = 60;
  return new MeshError('rate_limited', 'Too many requests wait for a person: try again in a minute.', {
    retryAfterSeconds,
  });
}
