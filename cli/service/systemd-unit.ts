import type { NodeService } from './service.ts';

/** Homes and what is temporary: the service sees nothing of it but what it needs. */
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'];

const LOCKS = ['/run/ufw.lock', '/run/xtables.lock'];

const RESTARTS = `TimeoutStopSec=15
Restart=on-failure
RestartSec=1
# Wrong options, not permitted, not registered any more, expired, no rights: another start would end the same.
RestartPreventExitStatus=2 3 4 5 8
`;

const BOUNDS = `NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
`;

/**
 * The unit of a node: what it may do is what it does, and nothing more. `systemd-analyze security` judges it; a test runs a
 * node with these rights alone.
 */
export function systemdUnit(service: NodeService): string {
  const { launcher, directory, interfaceName, options, isDirectoryRoots } = service;
  const up = ['up', '--config-dir', directory, '--interface', interfaceName, ...options];
  const capabilities = ['CAP_NET_ADMIN', 'CAP_NET_BIND_SERVICE', ...(isDirectoryRoots ? [] : ['CAP_DAC_OVERRIDE'])];
  return `# A node of a Mesh network, as mesh service install writes it. Changes of your own: systemctl edit ${unitName(interfaceName)}
[Unit]
Description=Mesh node (${interfaceName})
Wants=network-online.target
After=network-online.target nftables.service systemd-resolved.service
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${[quotedPath(launcher), ...up.map(quoted)].join(' ')}
${RESTARTS}# A wireguard-go goes on while the agent is started again: the next one takes it over.
KillMode=process
# So that the tunnel comes before other services, as it does in the kernel: 100 is what each of them has.
CPUWeight=900

# Interface, routes and nftables; port 53 of the node's own address.
CapabilityBoundingSet=${capabilities.join(' ')}
${BOUNDS}# /dev/net/tun alone, for wireguard-go.
DevicePolicy=closed
DeviceAllow=/dev/net/tun rw
UMask=0077

# It writes its own state, what other commands of mesh look at, and how the resolver of the host is told of names.
ProtectSystem=strict
CacheDirectory=mesh
StateDirectory=mesh-node
StateDirectoryMode=0700
RuntimeDirectory=mesh wireguard
RuntimeDirectoryPreserve=yes
ReadWritePaths=-/etc/NetworkManager/dnsmasq.d -/run/resolvconf${service.options.includes('--write-resolv-conf') ? ' -/etc/resolv.conf' : ''}
${hostFirewallOf(service)}${mountsOf(service)}PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectProc=invisible

[Install]
WantedBy=multi-user.target
`;
}

/** The unit of a node in userspace mode under the systemd of its user, which has no rights to give: the node gets no others. */
export function userUnit({ launcher, directory, interfaceName, options }: NodeService): string {
  const up = ['up', '--userspace', '--config-dir', directory, '--interface', interfaceName, ...options];
  return `# A node of a Mesh network in userspace mode, as mesh service install --user writes it. Changes of your own: systemctl --user edit ${unitName(interfaceName)}
[Unit]
Description=Mesh node (${interfaceName})
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${[quotedPath(launcher), ...up.map(quoted)].join(' ')}
${RESTARTS}${BOUNDS}UMask=0077

[Install]
WantedBy=default.target
`;
}

/** `mesh` for the interface that a node has unless it is told another. */
export function unitName(interfaceName: string): string {
  return interfaceName === 'mesh0' ? 'mesh.service' : `mesh-${interfaceName}.service`;
}

/** Returns the interface of a unit named by `unitName`; undefined for another unit. */
export function interfaceOfUnit(name: string): string | undefined {
  const [, interfaceName = 'mesh0'] = /^mesh(?:-([\w-]+))?\.service$/.exec(name) ?? [];
  return unitName(interfaceName) === name ? interfaceName : undefined;
}

/** Returns true if a unit starts the node of a directory. */
export function isUnitOf(unit: string, directory: string): boolean {
  return unit.includes(` --config-dir ${quoted(directory)} `);
}

/** ufw and firewalld keep rules in files, and ufw and iptables hold locks; the daemon of firewalld is asked by its socket. */
function hostFirewallOf({ options }: NodeService): string {
  if (!options.includes('--open-firewall')) return '';
  return `# For --open-firewall.
ExecStartPre=+-/bin/touch ${LOCKS.join(' ')}
ReadWritePaths=-/etc/ufw -/etc/firewalld ${LOCKS.map((lock) => `-${lock}`).join(' ')}
`;
}

/** Homes are empty, but for the directory of the node and the software where they lie there. */
function mountsOf({ directory, software }: NodeService): string {
  const isHidden = (place: string) => HIDDEN.some((hidden) => `${place}/`.startsWith(`${hidden}/`));
  const readable = software.filter(isHidden).map((place) => `BindReadOnlyPaths=${quotedPath(place)}\n`);
  const state = isHidden(directory)
    ? `BindPaths=${quotedPath(directory)}\n`
    : `ReadWritePaths=${quotedPath(directory)}\n`;
  return `ProtectHome=tmpfs\n${state}${readable.join('')}`;
}

/**
 * Matches characters that systemd unquotes twice in a path, or reads as the end of one of two paths: no quoting suits all of
 * them.
 */
export const UNQUOTABLE = /[:"'\\]/;

/** An argument of the program: variables stand for themselves. */
function quoted(word: string): string {
  return quotedPath(word.replaceAll('$', '$$$$'));
}

/** As one word of a unit, where no variables are read: of the program itself, and of paths. Specifiers stand for themselves. */
function quotedPath(word: string): string {
  const plain = word.replaceAll('%', '%%');
  return /^[\w./:@+=,%$-]+$/.test(plain) ? plain : `"${plain.replaceAll(/["\\]/g, '\\$&')}"`;
}
