import { connect } from '@nats-io/transport-node';
import type { Log } from '../../core/base/ports.ts';
import { connectionOptions } from '../../net/bus/bus-address.ts';
import type { ExternalBusOptions } from '../../net/bus/external-bus.ts';

/** The servers of a bus elsewhere, each tried by itself: the one connection of a control plane tells of one alone. */

interface Visitor extends Pick<ExternalBusOptions, 'place' | 'signIn'> {
  /** As the server knows the connection. */
  readonly name: string;
}

const CONNECT_MS = 2_000;
const POLL_MS = 5_000;

/** Why a server, `host:port`, does not let this control plane in; undefined where it does. */
export async function problemAt(server: string, { place, signIn, name }: Visitor): Promise<string | undefined> {
  try {
    const connection = await connect({
      servers: [server],
      ...connectionOptions(place, [server]),
      ...signIn(),
      name,
      timeout: CONNECT_MS,
      reconnect: false,
      ignoreClusterUpdates: true,
    });
    await connection.close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** While it is connected to one, looks at the others each few seconds, so that whoever asks how they are waits for none. */
export function watchServers(
  { place, signIn }: Pick<Visitor, 'place' | 'signIn'>,
  connectedTo: () => string | undefined,
  log: Pick<Log, 'warn' | 'info'>,
) {
  const visitor = { place, signIn, name: 'mesh readiness' };
  const others = () => place.servers.filter((server) => server !== connectedTo());
  let problems: ReadonlyMap<string, string> = new Map();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    if (connectedTo() === undefined) return;
    const tried = others().map(async (server) => [server, await problemAt(server, visitor)] as const);
    const found = (await Promise.all(tried)).flatMap(([server, problem]) =>
      problem === undefined ? [] : [[server, problem] as const],
    );
    if (isStopped) return;
    const before = problems;
    problems = new Map(found);
    for (const [server, error] of found)
      if (!before.has(server))
        log.warn({ server, error }, 'a server of the bus does not let this control plane in: the others carry it');
    for (const server of before.keys())
      if (!problems.has(server)) log.info({ server }, 'a server of the bus lets this control plane in again');
  }

  function next(ms: number): void {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => void look().finally(() => next(POLL_MS)), ms).unref();
  }

  return {
    /** Returns the problem of each server that is unreachable. */
    problems: () =>
      others().flatMap((server) => {
        const problem = problems.get(server);
        return problem === undefined ? [] : [`${server} (${problem})`];
      }),
    /** It is connected to another one: does not wait for the next look. */
    lookNow: () => next(0),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
