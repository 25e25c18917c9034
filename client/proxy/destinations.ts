import { connect as connectDirect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type IpRange, overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { isNeverServed, zoneOf } from '../names/zone.ts';
import { placesOf } from '../places.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

/** Reasons why a request of the proxy is not carried out. */
export type RefusalCode = 'down' | 'outside' | 'policy' | 'refused' | 'unreachable';

/** The proxy does not connect; the message is for people. */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DestinationOptions {
  /** Begins a connection inside the overlay, which emits `connect` or `error`; undefined while the overlay is down. */
  readonly connect: (remote: Endpoint) => Duplex | undefined;
  /** Other addresses are reached from this host, too. */
  readonly isDirect: boolean;
}

const DOWN = 'The overlay of this node is down: its status says why.';

type Overlay = Pick<FullGraph, 'self' | 'peers'>;

/** Where the proxy connects to: names and addresses of the overlay. */
export class Destinations {
  readonly #options: DestinationOptions;
  #overlay: Overlay | undefined;

  constructor(options: DestinationOptions) {
    this.#options = options;
  }

  /** @param overlay undefined while it is down */
  use(overlay: Overlay | undefined): void {
    this.#overlay = overlay;
  }

  /** Connects to a name or address. @throws ProxyRefusal with the reason */
  async open(host: string, port: number): Promise<Duplex> {
    const address = this.#overlay && overlayAddressOf(host, this.#overlay);
    if (address === undefined && this.#options.isDirect) return connected(connectDirect({ host, port }), host, port);
    if (this.#overlay === undefined) throw new ProxyRefusal('down', DOWN);
    if (address === undefined) throw new ProxyRefusal('outside', outsideText(host));
    const stream = this.#options.connect({ address, port });
    if (!stream) throw new ProxyRefusal('down', DOWN);
    return connected(stream, host, port);
  }
}

function outsideText(host: string): string {
  return (
    `${host} is neither a peer that policy shows to this node nor an address of its network, and this proxy connects to those ` +
    'alone. The status of the node lists the peers; a node that is started with --proxy-direct reaches other hosts, too.'
  );
}

/** Returns the overlay address of a host, which is a peer's name, with or without the domain, or an address of the network. */
export function overlayAddressOf(host: string, overlay: Overlay): string | undefined {
  const { self, peers } = overlay;
  const ip = parseAddress(host);
  if (ip) return placesOf(self).some(({ cidr }) => isInside(ip, parseCidr(cidr))) ? host : undefined;
  const domain = zoneOf(overlay)?.domain;
  const full = host.toLowerCase().replace(/\.$/, '');
  const name = domain !== undefined && full.endsWith(`.${domain}`) ? full.slice(0, -domain.length - 1) : full;
  const [match, ...others] = [self, ...peers].filter((peer) => peer.name.toLowerCase() === name);
  return others.length > 0 || isNeverServed(name) ? undefined : match?.address;
}

function isInside(ip: IpRange, block: IpRange | undefined): boolean {
  return block !== undefined && overlaps(ip, block);
}

function connected<Stream extends Duplex>(stream: Stream, host: string, port: number): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const fail = ({ code = '', message }: NodeJS.ErrnoException) => reject(refusalOf(code, message, host, port));
    stream.once('error', fail);
    stream.once('connect', () => {
      stream.off('error', fail);
      resolve(stream);
    });
  });
}

function refusalOf(code: string, message: string, host: string, port: number): ProxyRefusal {
  if (code === 'EACCES') return new ProxyRefusal('policy', `No policy permits a connection to ${host} port ${port}.`);
  if (code === 'ECONNREFUSED') return new ProxyRefusal('refused', `${host} refused a connection to port ${port}.`);
  return new ProxyRefusal('unreachable', `${host} port ${port} does not answer: ${message}`);
}
