import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A plain TCP balancer on the loopback. */
export interface Balancer {
  readonly url: string;
  /** To where connections go from now on, one after the other; one that nobody takes goes to the next. */
  use(urls: readonly string[]): void;
  stop(): Promise<void>;
}

export async function startBalancer(host = '127.0.0.1', ownPort = 0): Promise<Balancer> {
  let targets: readonly URL[] = [];
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    keep(client);
    // Each turn begins with another: who opens many connections meets them all.
    const all = targets.map((_, nth) => targets[(turn + nth) % targets.length]);
    turn += 1;
    pass(
      client,
      all.filter((target) => target !== undefined),
    );
  });

  function keep(socket: Socket): void {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  function pass(client: Socket, [first, ...others]: readonly URL[]): void {
    if (!first) {
      client.destroy();
      return;
    }
    const upstream = connect({ host: first.hostname, port: Number(first.port) });
    const refused = () => pass(client, others);
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      keep(upstream);
      client.pipe(upstream).pipe(client);
      upstream.once('close', () => client.destroy());
      client.once('close', () => upstream.destroy());
    });
  }

  server.listen(ownPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    use(urls) {
      targets = urls.map((url) => new URL(url));
    },
    async stop() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** `node balancer.ts <port> <url>…`, on all addresses of its network namespace. */
if (import.meta.main) {
  const [port, ...urls] = process.argv.slice(2);
  (await startBalancer('::', Number(port))).use(urls);
  process.stdout.write('open\n');
}
