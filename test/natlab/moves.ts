import type { LabHost, Natlab } from '../kits/lab/natlab.ts';

/** A host leaves its network for that of another router, as a laptop does: what it had is gone first. */
export async function move(lab: Natlab, name: string, router: string): Promise<void> {
  const [host, to] = [lab.host(name), lab.host(router)];
  const lan = (await to.must('ip', ['-o', '-4', 'address', 'show', 'dev', 'br0'])).match(/192\.168\.\d+/)?.[0];
  await host.must('ip', ['link', 'delete', 'eth0']);
  await host.must('ip', ['link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'moved', 'netns', to.namespace]);
  await to.must('ip', ['link', 'set', 'moved', 'master', 'br0', 'up']);
  await host.must('ip', ['address', 'add', `${lan}.77/24`, 'dev', 'eth0']);
  await host.must('ip', ['link', 'set', 'eth0', 'up']);
  await host.must('ip', ['route', 'add', 'default', 'via', `${lan}.1`]);
}

/** A host behind a router gets another address from it. */
export async function readdress(host: LabHost): Promise<void> {
  const lan = host.address?.slice(0, host.address.lastIndexOf('.'));
  const lines = [
    'address flush dev eth0 scope global',
    `address add ${lan}.88/24 dev eth0`,
    `route add default via ${lan}.1`,
  ];
  await host.must('ip', ['-batch', '-'], { stdin: lines.join('\n') });
}

/** A router on the internet gets another address, and with the last one its mappings go. */
export async function remap(router: LabHost): Promise<void> {
  const next = router.address?.replace(/\.1(\d\d)$/, '.2$1');
  const lines = ['address flush dev eth0 scope global', `address add ${next}/24 dev eth0`];
  await router.must('ip', ['-batch', '-'], { stdin: lines.join('\n') });
}

/** The link between a router and the hosts behind it carries smaller packets. */
export async function narrow(router: LabHost, host: LabHost, mtu: number): Promise<void> {
  const ports = await router.must('ip', ['-o', 'link', 'show', 'master', 'br0']);
  for (const [, port] of ports.matchAll(/^\d+: (\w+)/gm)) {
    await router.must('ip', ['link', 'set', port ?? '', 'mtu', `${mtu}`]);
  }
  await host.must('ip', ['link', 'set', 'eth0', 'mtu', `${mtu}`]);
}
