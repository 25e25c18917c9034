import { useLoaded } from '../../api/load.ts';
import clients from '../../api/mcp-clients.json';
import { linkTo } from '../../route/route.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { chosenTab, Tabs } from '../../ui/tabs.tsx';

interface SignIn {
  /** With `{url}` for the address of `/mcp`. */
  readonly text: string;
  readonly place: string;
  readonly afterwards: string;
}

const CLIENTS: readonly { readonly client: string; readonly name?: string; readonly signIn?: SignIn }[] = clients;
const OTHER = 'other';
const OPTIONS = [
  ...CLIENTS.filter(({ signIn }) => signIn).map(({ client, name }) => [client, name ?? client] as const),
  [OTHER, 'Others'] as const,
];

/** Served where clients can sign in under the address of this page. */
const METADATA = '/.well-known/oauth-protected-resource/mcp';

/** The shortest way to connect: the client has the address, and asks on a page of the dashboard what it may do. */
export function SignInSteps() {
  const url = `${location.origin}/mcp`;
  const chosen = chosenTab('sign-in', OPTIONS);
  const found = CLIENTS.find(({ client }) => client === chosen)?.signIn;
  const canSignIn = useLoaded(takesClients, { live: false });
  return (
    <section class="panel stack" aria-labelledby="by-address">
      <h2 id="by-address">With an address</h2>
      <p class="dim">
        The client needs this address and no token: it asks you on a page of this dashboard what it may do. You allow it
        there, and it stands under <a href={linkTo('agents')}>Agents</a>.
      </p>
      {canSignIn.value.value === false && (
        <p class="notice warn">
          Clients cannot sign in under this address: an administrator adds it to app.publicUrls. A token works all the
          same.
        </p>
      )}
      <CodeBlock label="Address of the MCP server" text={url} />
      <Tabs label="Client that signs in" name="sign-in" options={OPTIONS} />
      {found ? (
        <>
          <CodeBlock label={found.place} text={found.text.replace('{url}', url)} />
          <p>Then {found.afterwards}.</p>
        </>
      ) : (
        <p>
          Give the address where the client asks for a connector or an MCP server over HTTP. One that starts commands
          runs <code>npx mcp-remote {url}</code>. More is in the{' '}
          <a href="/docs/oauth" target="_blank" rel="noopener">
            documentation
          </a>
          .
        </p>
      )}
    </section>
  );
}

async function takesClients(signal: AbortSignal): Promise<boolean> {
  return (await fetch(METADATA, { signal })).ok;
}
