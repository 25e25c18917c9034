import { type HostResolver, must, type Run } from './resolver.ts';

/**
 * resolvconf of openresolv, whose `-p` means "for these domains alone". It passes that on to a resolver on the host (dnsmasq,
 * unbound, named, pdnsd); /etc/resolv.conf itself cannot say it. The resolvconf of Debian knows no such thing.
 */
export function openresolv(run: Run): HostResolver {
  return {
    name: 'resolvconf',
    async isHere() {
      const { code, stdout } = await run('resolvconf', ['--version']);
      return code === 0 && stdout.startsWith('openresolv');
    },
    set: ({ interfaceName, address, domain, reverse }) =>
      must(
        run,
        'resolvconf',
        ['-p', '-a', interfaceName],
        `domain ${domain}\nsearch ${[domain, ...reverse].join(' ')}\nnameserver ${address}\n`,
      ),
    async unset(interfaceName) {
      await run('resolvconf', ['-f', '-d', interfaceName]);
    },
  };
}
