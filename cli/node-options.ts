import { InvalidArgumentError, Option } from 'commander';
import { MAX_ACCEPTED } from '../client/enrol/node-config.ts';
import { unacceptable } from '../client/routes/judge-route.ts';
import { parseDuration } from '../core/base/duration.ts';
import { type HostPort, isPort, parseHostPort } from '../net/host-port.ts';
import { parseRelayAddress } from '../net/relay/address.ts';

/** A UDP port. */
export function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('It is a UDP port from 1 to 65535.');
  return port;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** A TCP port. */
export function tcpPortOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (isPort(port)) return port;
  throw new InvalidArgumentError('It is a TCP port from 1 to 65535.');
}

/** A port of the loopback interface, with or without its address, for --proxy. */
export function proxyOf(text: string): HostPort {
  const address = parseHostPort(/^\d+$/.test(text) ? `127.0.0.1:${text}` : text);
  if (address && LOOPBACK.has(address.host)) return address;
  throw new InvalidArgumentError('It is a loopback address and a port, such as 127.0.0.1:1055; port 0 takes any.');
}

/** An address of a relay without a credential, for --relay-url. */
export function relayOf(text: string): string {
  if (parseRelayAddress(text)?.credential === undefined && parseRelayAddress(text)) return text;
  throw new InvalidArgumentError('It has the form host:port, without a credential.');
}

/** `--accept-routes`: repeated, or with commas; `none` takes all of them back. */
export function acceptRoutesOption(): Option {
  const text =
    'route these blocks too where the network has them, beside private ones; remembered; none: private ones alone';
  return new Option('--accept-routes <cidr,...>', text).argParser(routesOf);
}

function routesOf(text: string, before: readonly string[] = []): readonly string[] {
  if (text === 'none') return [];
  const blocks = text.split(',').map((block) => block.trim());
  for (const block of blocks) {
    const why = unacceptable(block);
    if (why !== undefined) throw new InvalidArgumentError(why);
  }
  const all = [...new Set([...before, ...blocks])];
  if (all.length > MAX_ACCEPTED) throw new InvalidArgumentError(`A node accepts at most ${MAX_ACCEPTED} blocks.`);
  return all;
}

/** The same wherever a node is started. */
export function busWaitOption(): Option {
  const text = 'how long a connect to the bus may take: 500ms, 10s, or a number of seconds';
  return new Option('--bus-wait <duration>', text).argParser(durationOf).default(2_000, '2s');
}

/** Seconds, or a duration with a unit; in milliseconds. */
function durationOf(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : parseDuration(text);
  if (!ms || ms > 600_000) throw new InvalidArgumentError('It is a duration such as 2s or 500ms, at most 10m.');
  return ms;
}

/** How old something may become: a duration of an hour or more, in milliseconds. */
export function ageOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 3_600_000) return ms;
  throw new InvalidArgumentError('It is a duration of an hour or more, such as 90d.');
}

/** A name as the kernel takes it, without what a shell or a rule could misread. */
export function interfaceOf(text: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,14}$/.test(text)) return text;
  throw new InvalidArgumentError('It is 1 to 15 letters, digits, "_" or "-", and begins with a letter.');
}
