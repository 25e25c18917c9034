import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { LogWitnessOptions } from '../../../client/control/log-witness.ts';
import type { NodeConfig } from '../../../client/enrol/node-config.ts';
import type { Log } from '../../../core/base/ports.ts';
import type { FullGraph } from '../../../core/model/graph.ts';
import { WIRE_HEADER } from '../../../core/model/wire.ts';
import { type ReleasedNode, wireOf } from '../../releases/wire-fixture.ts';
import { freshDirectory } from '../process/meshd.ts';

/** The node's half of the wire, of this version or of a release, against control planes of any. */

export const JOIN_TOKEN = `mesh-join-${'x'.repeat(43)}`;
const OWN_GRAPH = 'GET /api/v1/devices/self/graph';
const REGISTER = 'POST /api/v1/devices/register';

export function joinAs({ enrol }: Pick<ReleasedNode, 'enrol'>, server: string, token: string) {
  const about = { name: 'db-1', hostname: 'db-1', platform: 'linux', version: '9.9.9', force: false } as const;
  return enrol({ ...about, directory: freshDirectory(), server, token });
}

/** A node that runs without an overlay until the test is over, and what it saw. */
export function bareNode(
  { ControlLink }: Pick<ReleasedNode, 'ControlLink'>,
  config: NodeConfig,
  kept?: FullGraph,
  logFile: LogWitnessOptions['file'] = { read: () => undefined, write: () => {} },
) {
  const lines: string[] = [];
  const graphs: FullGraph[] = [];
  const standings: string[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  const log: Log = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
  const link = new ControlLink({
    config,
    version: '9.9.9',
    file: { read: () => kept, write: () => {}, forget: () => {} },
    logFile,
    busWaitMs: 2_000,
    clock: { now: Date.now },
    log,
    saveConfig: () => {},
    onGraph: (graph) => graphs.push(graph),
    onStanding: (standing) => standings.push(standing),
    onSignal: () => {},
    onBus: () => {},
  });
  onTestFinished(() => link.stop());
  return { link, lines, graphs, standings, peers: () => graphs.at(-1)?.peers.map(({ name }) => name) };
}

export interface NodeCall {
  /** Method and path. */
  readonly call: string;
  /** What it said of its versions of the wire. */
  readonly wire: string | undefined;
  readonly sent: Readonly<Record<string, unknown>>;
}

/** An API that answers each call of a node as it is told, and says these versions of the wire. */
export async function otherPlane(
  answerOf: (call: NodeCall) => { readonly status: number; readonly answer: object } | undefined,
  wire?: string,
) {
  const calls: NodeCall[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const said = headers[WIRE_HEADER.toLowerCase()]?.toString();
    const call = { call: `${method} ${url}`, wire: said, sent: JSON.parse((await text(request)) || '{}') };
    calls.push(call);
    const { status, answer } = answerOf(call) ?? { status: 404, answer: problemOf('not_found') };
    response.writeHead(status, wire === undefined ? {} : { [WIRE_HEADER]: wire }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

export function problemOf(code: string, detail = 'no'): object {
  return { code, title: 'No', detail };
}

/** What a control plane of a release answered to a call. */
export function answerOf(version: string, call: string) {
  return wireOf(version).http.find((exchange) => exchange.call === call);
}

export function graphOf(version: string): FullGraph {
  return answerOf(version, OWN_GRAPH)?.answer as unknown as FullGraph;
}

/** The configuration of a node of that control plane, which is elsewhere now and has no bus. */
export function configOf(version: string, server: string): NodeConfig {
  const registered = answerOf(version, REGISTER)?.answer;
  const { name, deviceToken } = { name: '', deviceToken: '', ...registered };
  return { ...wireOf(version).node, name, deviceToken, server, signalingUrl: 'nats://127.0.0.1:1' };
}
