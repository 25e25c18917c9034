export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const LAST_PORT = 65_535;
const HOST_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/;

/** `host:port`, IPv6 in brackets; undefined when it is neither. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = HOST_PORT.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && port <= LAST_PORT ? { host, port } : undefined;
}

/** True if a port can be a destination: an integer from 1 to the largest port. */
export function isPort(port: number | undefined): port is number {
  return port !== undefined && Number.isInteger(port) && port >= 1 && port <= LAST_PORT;
}

/** `host:port`, an IPv6 address in brackets. */
export function formatHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
