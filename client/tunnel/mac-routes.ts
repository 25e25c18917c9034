import { collidingNames, type KnownRoute } from './routes.ts';

/** The routes of `netstat -rn -f inet` that a block has addresses in common with, as {@link collidingNames} gives them. */
export function collidingMacRoutes(cidr: string, output: string, interfaceName: string): string[] {
  return collidingNames(cidr, macRoutes(output), interfaceName);
}

function macRoutes(output: string): KnownRoute[] {
  const lines = output.split('\n').map((line) => line.trim().split(/\s+/));
  const head = lines.findIndex(([first]) => first === 'Destination');
  // Until macOS 11.2 there were two more columns before it.
  const column = lines[head]?.indexOf('Netif') ?? -1;
  if (column < 0) return [];
  return lines.slice(head + 1).flatMap((fields): KnownRoute[] => {
    const [destination = '', , flags = ''] = fields;
    const device = fields[column];
    const isForMany = /[mb]/.test(flags);
    // Neighbours on a link (L) are no routes of their own.
    if (device === undefined || isForMany || flags.includes('L')) return [];
    return [{ text: destination, cidr: wholeCidr(destination), device }];
  });
}

/** netstat leaves out trailing zeros, and the length where it is that of the octets it shows: `127`, `10.96/16`. */
function wholeCidr(destination: string): string {
  const [address = '', length] = destination.split('/');
  const octets = address.split('.');
  if (octets.length > 4 || !octets.every((octet) => /^\d{1,3}$/.test(octet))) return '';
  const padded = [...octets, '0', '0', '0'].slice(0, 4).join('.');
  return `${padded}/${length ?? octets.length * 8}`;
}
