import { isPort, parseHostPort } from '../../net/host-port.ts';

/** A destination outside of the overlay that a sandbox may reach. */
export interface Destination {
  /** In lower case, without a dot at its end. */
  readonly host: string;
  readonly port: number;
  /** True for plain HTTP; otherwise TLS under the same name. */
  readonly isPlain: boolean;
}

/** Most of one sandbox: each is shown with the agent. */
export const MAX_DESTINATIONS = 32;

const HTTP_PORT = 80;
const NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const FORM = 'Write api.example.com:443 for TLS, or http://api.example.com:80 for plain HTTP.';

/** Reads `api.example.com:443`, or `http://api.example.com:80` for plain HTTP. @returns why it is refused, as a text */
export function parseDestination(text: string): Destination | string {
  const isPlain = text.startsWith('http://');
  const rest = isPlain ? text.slice('http://'.length) : text;
  const { host: written, port } = parseHostPort(isPlain && !rest.includes(':') ? `${rest}:${HTTP_PORT}` : rest) ?? {};
  const host = written?.toLowerCase();
  if (host === undefined || port === undefined || !isPort(port)) return `"${text}" is no destination. ${FORM}`;
  // TLS names no server by its address, and an address need not belong to who had it yesterday.
  if (!NAME.test(host)) return `"${text}" needs a full name, not an address. ${FORM}`;
  return { host, port, isPlain };
}

/** Returns the form that {@link parseDestination} reads. */
export function destinationText({ host, port, isPlain }: Destination): string {
  return `${isPlain ? 'http://' : ''}${host}:${port}`;
}

/** Returns the name in the form in which names are compared. */
export function comparableName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
