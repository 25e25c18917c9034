/** Environment variables that the commands read themselves, with what each is (docs/configuration.md). */
export const COMMAND_VARIABLES = {
  MESH_SERVER:
    'Address of the control plane that `mesh` calls; that of the last login, or of the node here, when unset',
  MESH_TOKEN: 'Bearer token of `mesh`, or @file that has it; the session of `mesh login` when unset',
  MESH_WORKSPACE: 'Workspace in which `mesh` calls, by id or slug; the one of the login, or the only one, when unset',
  MESH_PASSWORD: 'Password that `mesh login` takes; asked for when unset',
  MESH_CONFIG_DIR: 'Directory of `meshd`, ~/.meshd when unset, and of the session of `mesh`, ~/.mesh when unset',
  MESH_SANDBOX:
    'Name of the agent, set by `mesh sandbox start` for what runs in it: `mesh` needs no token there, since the door to the control plane adds it',
  MESH_NETSTACK:
    'Network stack of nodes in userspace mode: wasm, native for the program that npm run build:netstack -- --native makes, or the path of one; wasm when unset',
} as const;
