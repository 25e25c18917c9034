import type { Socket as UdpSocket } from 'node:dgram';
import type { Server } from 'node:net';
import type { Log } from '../../core/base/ports.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { PlaneApi } from '../enrol/plane-api.ts';
import { zoneOf } from '../names/zone.ts';
import type { Destination } from './destination.ts';
import { serveDoor } from './door.ts';
import { serveEgress } from './egress.ts';
import { EgressReport } from './egress-report.ts';
import { serveNames } from './names.ts';
import type { Listener, Opening } from './opening.ts';

/** Sockets that listen on the loopback of a sandbox, made inside and served outside. */
export interface SandboxSockets {
  readonly door: { readonly listener: Listener; readonly port: number };
  readonly egress: { readonly listener: Listener; readonly port: number };
  readonly names: { readonly udp: UdpSocket; readonly tcp: Server };
}

export interface OpeningsOptions {
  /** Address of the control plane. */
  readonly server: string;
  /** Name of the agent. */
  readonly name: string;
  readonly agentToken: string;
  /** Returns the device token of now. */
  readonly deviceToken: () => string;
  /** Destinations outside of the overlay; none: nothing there is reached. */
  readonly destinations: readonly Destination[];
  readonly log: Log;
}

/** The servers at the openings of a sandbox. */
export interface Openings extends Opening {
  /** @param graph in force from now on; undefined once none is */
  use(graph: FullGraph | undefined): void;
  /** Returns the variables of the command, by which it finds the openings. No secret is among them. */
  variables(): Readonly<Record<string, string>>;
}

const REPORT_MS = 5_000;
/** Peers whose short names programs reach without the proxy. */
const MAX_UNPROXIED = 200;

/** Serves the control plane, the names of peers, and named destinations to a sandbox. */
export async function serveOpenings(sockets: SandboxSockets, options: OpeningsOptions): Promise<Openings> {
  const { server, name, agentToken, deviceToken, destinations, log } = options;
  const report = new EgressReport(
    (uses) => new PlaneApi(server, deviceToken(), AbortSignal.timeout(REPORT_MS)).reportEgress(uses),
    log,
  );
  const opened: Opening[] = [];
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
    await report.close();
  };
  const names = serveNames(sockets.names.udp, sockets.names.tcp);
  opened.push(names);
  try {
    opened.push(await serveDoor(sockets.door.listener, { server, token: agentToken, log }));
    const onUse = report.add.bind(report);
    opened.push(await serveEgress(sockets.egress.listener, { destinations, onUse, log }));
  } catch (error) {
    await close();
    throw error;
  }
  let inForce: FullGraph | undefined;
  return {
    close,
    use(graph) {
      inForce = graph;
      names.use(graph);
    },
    variables: () => ({
      MESH_SERVER: loopback(sockets.door.port),
      MESH_SANDBOX: name,
      ...proxyVariables(destinations, loopback(sockets.egress.port), inForce),
    }),
  };
}

const loopback = (port: number) => `http://127.0.0.1:${port}`;

/** Names a proxy only for what it passes, and never for peers. */
function proxyVariables(
  destinations: readonly Destination[],
  proxy: string,
  graph: FullGraph | undefined,
): Record<string, string> {
  const names = [
    ...(destinations.some(({ isPlain }) => !isPlain) ? ['HTTPS_PROXY', 'https_proxy'] : []),
    // Programs that run as CGI take HTTP_PROXY for a header of their client.
    ...(destinations.some(({ isPlain }) => isPlain) ? ['HTTP_PROXY', 'http_proxy'] : []),
  ];
  if (names.length === 0) return {};
  const domain = graph && zoneOf(graph)?.domain;
  const direct = [
    ...['localhost', '127.0.0.1'],
    ...(graph ? [graph.self.cidr] : []),
    ...(domain === undefined ? [] : [`.${domain}`]),
    ...(graph?.peers ?? []).slice(0, MAX_UNPROXIED).map((peer) => peer.name),
  ].join(',');
  return Object.fromEntries([...names.map((one) => [one, proxy]), ['NO_PROXY', direct], ['no_proxy', direct]]);
}
