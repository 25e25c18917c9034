import { textIn } from '../../if-readable.ts';
import { type HostResolver, must, type Run } from './resolver.ts';

/** Where it answers who asks by /etc/resolv.conf. */
const STUBS = ['127.0.0.53', '127.0.0.54'];
const STUB_FILE = '/run/systemd/resolve/stub-resolv.conf';

const FILES = { servers: '/etc/resolv.conf', sources: '/etc/nsswitch.conf' };

/** Servers and domains of each link; they go with the link. */
export function systemdResolved(run: Run, files = FILES): HostResolver {
  return {
    name: 'systemd-resolved',
    isHere: async () => (await run('resolvectl', ['dns'])).code === 0,
    async set({ interfaceName, address, domain, reverse }) {
      const on = (what: string, ...values: readonly string[]) =>
        must(run, 'resolvectl', [what, interfaceName, ...values]);
      await on('dns', address);
      // "~" routes without completing short names.
      await on('domain', domain, ...reverse.map((zone) => `~${zone}`));
      // Names with other suffixes are never asked here, nor by multicast in the overlay; and there is nothing to sign.
      await on('default-route', 'no');
      for (const what of ['llmnr', 'mdns', 'dnssec', 'dnsovertls']) await on(what, 'no');
    },
    unasked({ address, domain }) {
      if (/^hosts:.*\bresolve\b/m.test(textIn(files.sources))) return '';
      const server = /^nameserver[ \t]+(\S+)/m.exec(textIn(files.servers))?.[1];
      if (server === undefined || STUBS.includes(server) || server === address) return '';
      return (
        `programs here ask ${server}, which stands first in ${files.servers}, and not systemd-resolved: make that file a link to ` +
        `${STUB_FILE}, or have ${server} ask ${address} for ${domain}`
      );
    },
    async unset(interfaceName) {
      await run('resolvectl', ['revert', interfaceName]);
    },
  };
}
