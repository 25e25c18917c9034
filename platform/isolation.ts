/** Names of a pseudo-terminal's two ends, as descriptors of this process. */
export interface Terminal {
  readonly master: number;
  readonly slave: number;
}

export interface BoundRestrictions {
  readonly isReadOnly: boolean;
  /** Device nodes work below it. */
  readonly hasDevices?: boolean;
}

/** An address of an interface and the block that is routed with it. */
export interface InterfaceAddress {
  /** 4 or 16 bytes. */
  readonly ip: Uint8Array;
  readonly prefix: number;
}

export interface Packets {
  close(): void;
}

/**
 * System calls by which a process is cut off from its host. Those that make or change something throw an Error that names the call and
 * has the system's code.
 */
export interface Isolation {
  // Mounts of this process's mount namespace.
  mount(type: 'tmpfs' | 'proc' | 'devpts', target: string, data: string): void;
  /** Keeps mounts of this namespace out of others. */
  makeMountsPrivate(): void;
  /** With all that is mounted below. */
  bind(source: string, target: string, restrictions: BoundRestrictions): void;
  /** Makes a directory, on which something is mounted, the root; the former one is at another below it. */
  swapRoot(directory: string, former: string): void;
  /** The same, and takes the former root away. */
  enterRoot(directory: string): void;
  /** Nothing of what is mounted as the root is written from now on; what is mounted below it stays as it is. */
  sealRoot(): void;

  // The network namespace of this process. Each answers a descriptor.
  openTun(name: string): number;
  /** By it the interfaces of the namespace that it was opened in are configured, from outside too. */
  openRoutes(): number;
  bringUp(routes: number, name: string, mtu: number): void;
  addAddress(routes: number, name: string, address: InterfaceAddress): void;
  removeAddress(routes: number, name: string, address: InterfaceAddress): void;

  // Descriptors and terminals.
  /** Takes a copy of a descriptor that a child has. */
  takeDescriptor(pid: number, fd: number): number;
  duplicate(fd: number, to: number): void;
  /** Opens a terminal of the devpts instance that is mounted at a directory. */
  openTerminal(devpts: string): Terminal;
  /** Shows output as it is written, until the modes of the terminal are set anew. */
  makeOutputRaw(fd: number): void;
  resizeTerminal(fd: number, columns: number, rows: number): void;
  /** Begins a session, with the terminal as its own where one is given. */
  beginSession(terminal?: number): void;

  // The rights of this process, for good.
  setHostName(name: string): void;
  /** Ends this process when its parent does. */
  endWithParent(): void;
  /** From now on no program that this process becomes gains a capability. */
  dropBoundingSet(): void;
  /** Drops all capabilities, and lets the filter judge system calls from now on. */
  confine(filter: Uint8Array): void;

  /** Reads the packets of a TUN interface, each valid until the handler returns. */
  readPackets(tun: number, maxBytes: number, onPacket: (packet: Uint8Array) => void, onEnd: () => void): Packets;
}

/** @returns undefined, with the reason told, where this process has no such means */
export type LoadIsolation = (onMissing: (reason: string) => void) => Promise<Isolation | undefined>;
