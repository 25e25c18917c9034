import { connect, type Socket } from 'node:net';
import { reading } from '../kits/http/read-events.ts';
import type { Victim } from './victim.ts';
import type { Place } from './writes.ts';

const READERS = 2;
const SLOW_READERS = 2;
const HALF_OPEN = 4;

/** Whoever else is connected while a control plane is killed: readers of events, slow ones that take nothing, half requests. */
export function openLoad(victim: Victim, { token, workspace }: Place) {
  const { hostname, port } = new URL(victim.url);
  const sockets: Socket[] = [];
  /** The last revision that a reader was told of. */
  let told = 0;
  const open = (text: string, takes: boolean) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    if (!takes) socket.pause();
    socket.write(text);
    sockets.push(socket);
  };
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace };
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const head = `GET /api/v1/events HTTP/1.1\r\n${lines.join('\r\n')}\r\n`;
  for (let count = 0; count < SLOW_READERS; count += 1) open(`${head}\r\n`, false);
  for (let count = 0; count < HALF_OPEN; count += 1) open(head, true);
  const listen = async () => {
    const events = reading(await fetch(new URL('/api/v1/events', victim.url), { headers }));
    for (let event = await events.next(); event; event = await events.next()) told = Math.max(told, Number(event.id));
  };
  // Cut off with the control plane.
  const listening = Array.from({ length: READERS }, () => listen().catch(() => undefined));
  return {
    told: () => told,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await Promise.all(listening);
    },
  };
}
