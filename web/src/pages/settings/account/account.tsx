import { me } from '../../../api/session.ts';
import { settings } from '../../../texts/settings.ts';
import { Facts } from '../../../ui/facts.tsx';
import { Time } from '../../../ui/time.tsx';
import { OwnPassword } from './own-password.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** Who is signed in, and how they sign in. */
export function Account() {
  const { username, displayName, role, createdAt, workspaces = [] } = me.value ?? {};
  const isOfInstallation = role === 'platform_admin';
  return (
    <>
      <section class="stack" aria-labelledby="who">
        <h2 id="who">{settings.account.who}</h2>
        <Facts
          facts={[
            [settings.people.name, username],
            [settings.people.display, displayName],
            [settings.people.installationRole, isOfInstallation && settings.people.roles.platform_admin],
            [
              settings.account.roles,
              workspaces.map((one) => settings.account.roleIn(one.role, one.displayName)).join(', '),
            ],
            [settings.people.created, createdAt && <Time at={createdAt} />],
          ]}
        />
      </section>
      <SecondFactor />
      <OwnPassword />
      <Sessions />
    </>
  );
}
