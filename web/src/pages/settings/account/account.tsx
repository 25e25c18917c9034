import { me } from '../../../api/session.ts';
import { Facts } from '../../../ui/facts.tsx';
import { issuerHost } from '../../../ui/issuer-host.ts';
import { Time } from '../../../ui/time.tsx';
import { ClientGrants } from './client-grants.tsx';
import { OwnPassword } from './own-password.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** Who is signed in, and how they sign in. */
export function Account() {
  const { username, displayName, role, createdAt, issuer, workspaces = [] } = me.value ?? {};
  const isOfInstallation = role === 'platform_admin';
  return (
    <>
      <section class="stack" aria-labelledby="who">
        <h2 id="who">Profile</h2>
        <Facts
          facts={[
            ['User name', username],
            ['Display name', displayName],
            ['Role in the installation', isOfInstallation && 'platform administrator'],
            [
              'Roles',
              workspaces
                .map((one) => `${one.role === 'platform_admin' ? 'administrator' : one.role} in ${one.displayName}`)
                .join(', '),
            ],
            ['Created', createdAt && <Time at={createdAt} />],
          ]}
        />
      </section>
      {issuer === undefined ? (
        <>
          <SecondFactor />
          <OwnPassword />
        </>
      ) : (
        <section class="stack" aria-labelledby="sign-in">
          <h2 id="sign-in">Sign-in</h2>
          <p>
            Signed in by <strong class="break">{issuerHost(issuer)}</strong>; it has no password here.
          </p>
        </section>
      )}
      <Sessions />
      <ClientGrants />
    </>
  );
}
