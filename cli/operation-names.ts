/** Operations that have a command of their own, which people know; any other is called by `mesh admin`. */
export const OWN_COMMANDS: Readonly<Record<string, string>> = {
  apply_resources: 'mesh apply',
  approve_peer: 'mesh approve',
  approve_workflow: 'mesh approve',
  assess_compliance: 'mesh compliance assess',
  create_user: 'mesh users add',
  diff_snapshots: 'mesh diff',
  explain_denial: 'mesh why',
  generate_join_token: 'mesh invite',
  get_connectivity_history: 'mesh history',
  get_workflow: 'mesh workflows',
  list_agents: 'mesh agents',
  list_api_tokens: 'mesh tokens',
  list_assessments: 'mesh compliance list',
  list_audit: 'mesh log',
  list_join_tokens: 'mesh tokens',
  list_networks: 'mesh networks',
  list_peers: 'mesh peers',
  list_policies: 'mesh policies',
  list_reviews: 'mesh compliance reviews',
  list_snapshots: 'mesh snapshots',
  list_users: 'mesh users',
  list_webhooks: 'mesh webhook list',
  list_workflows: 'mesh workflows',
  list_workspaces: 'mesh workspaces',
  plan_network_change: 'mesh plan',
  reject_workflow: 'mesh reject',
  revert_network_change: 'mesh undo',
  update_workspace: 'mesh settings set',
};

/** A word of a text with what may stand inside of one: paths and names of files name no operation. */
const WORD = /[\w/.-]+/g;
const NAME = /^[a-z]+_[a-z_]+$/;

/**
 * Returns a text of a control plane with the operations in it by their commands. Messages name operations as every face
 * knows them; a person at a command line can run commands alone.
 */
export async function withCommands(text: string): Promise<string> {
  if (!text.match(WORD)?.some((word) => NAME.test(nameIn(word)))) return text;
  // Read where a text may name one: most commands need no list of them.
  const { operations } = await import('../tools/index.ts');
  const names = new Set(operations.map(({ name }) => name));
  return text.replaceAll(WORD, (word) => {
    const name = nameIn(word);
    if (!names.has(name)) return word;
    return `${OWN_COMMANDS[name] ?? `mesh admin ${name.replaceAll('_', '-')}`}${word.slice(name.length)}`;
  });
}

/** Returns a word without the full stop of its sentence. */
const nameIn = (word: string) => (word.endsWith('.') ? word.slice(0, -1) : word);
