import { ControlLink } from '../../../client/control/control-link.ts';
import type { Standing } from '../../../client/control/standing.ts';
import type { NodeConfig } from '../../../client/enrol/node-config.ts';
import type { Log } from '../../../core/base/ports.ts';
import type { FullGraph } from '../../../core/model/graph.ts';
import { generateKeyPair } from '../../../net/seal/x25519.ts';
import { buildWaits } from '../process/waits.ts';
import type { Harness } from './harness.ts';
import { joinTokenFor, type Place, register } from './joining.ts';

/** Registers a node; it takes the bus to be at that address. */
export async function joined(
  harness: Pick<Harness, 'url' | 'api'>,
  place: Place,
  name: string,
  signalingUrl: string,
): Promise<NodeConfig> {
  const pair = generateKeyPair();
  const token = await joinTokenFor(harness, place);
  const { body } = await register(harness, token, name, { publicKey: Buffer.from(pair.publicKey).toString('base64') });
  return {
    server: harness.url,
    id: body.id,
    name,
    workspaceId: place.workspace,
    controlKey: body.controlKey,
    deviceToken: body.deviceToken,
    privateKey: Buffer.from(pair.privateKey).toString('base64'),
    signalingUrl,
    ...(body.busJwt !== undefined && { busJwt: body.busJwt }),
  };
}

/** The link of a node to the control plane, which remembers what it heard and wakes whoever waits for it. */
export function linkOf(config: NodeConfig, { busWaitMs = 2_000, kept }: { busWaitMs?: number; kept?: FullGraph } = {}) {
  const lines: string[] = [];
  const graphs: FullGraph[] = [];
  const standings: Standing[] = [];
  const signals: string[] = [];
  let saved = config;
  const { changed: told, until } = buildWaits();
  const at = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    told();
  };
  const log: Log = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
  const link = new ControlLink({
    config,
    version: '0.1.0',
    file: { read: () => kept, write: () => {}, forget: () => {} },
    logFile: { read: () => undefined, write: () => {} },
    busWaitMs,
    clock: { now: Date.now },
    log,
    saveConfig: (next) => {
      saved = next;
    },
    onGraph: (graph) => {
      graphs.push(graph);
      told();
    },
    onStanding: (standing) => {
      standings.push(standing);
      told();
    },
    onSignal: ({ data }) => {
      signals.push(Buffer.from(data).toString());
      told();
    },
    onBus: told,
  });
  return {
    link,
    lines,
    graphs,
    standings,
    /** What came on its signal subject, as text. */
    signals,
    saved: () => saved,
    peers: () => graphs.at(-1)?.peers.map(({ name }) => name),
    until,
  };
}
