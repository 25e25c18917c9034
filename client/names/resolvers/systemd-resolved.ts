import { type HostResolver, must, type Run } from './resolver.ts';

/** Servers and domains of each link; they go with the link. */
export function systemdResolved(run: Run): HostResolver {
  return {
    name: 'systemd-resolved',
    isHere: async () => (await run('resolvectl', ['dns'])).code === 0,
    async set({ interfaceName, address, domain, reverse }) {
      const on = (what: string, ...values: readonly string[]) =>
        must(run, 'resolvectl', [what, interfaceName, ...values]);
      await on('dns', address);
      // "~" routes without completing short names.
      await on('domain', domain, ...reverse.map((zone) => `~${zone}`));
      // What ends otherwise is never asked here, nor by multicast in the overlay; and there is nothing to sign.
      await on('default-route', 'no');
      for (const what of ['llmnr', 'mdns', 'dnssec', 'dnsovertls']) await on(what, 'no');
    },
    async unset(interfaceName) {
      await run('resolvectl', ['revert', interfaceName]);
    },
  };
}
