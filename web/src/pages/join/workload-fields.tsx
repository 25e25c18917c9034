import { may } from '../../api/workspace.ts';
import { AreaField, CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { ISSUERS, KUBERNETES, PRESETS, type WorkloadEntries } from './workload-request.ts';

const CLAIMS: Readonly<Record<string, string>> = {
  github: 'repository_id=74 ref=refs/heads/main',
  gitlab: 'project_id=74 ref=main',
  oidc: 'sub=builder',
};
const WAYS = {
  discovery: 'Published keys',
  ca: 'Published keys, own CA',
  keys: 'Keys entered here',
};
const WAYS_OF_CLUSTERS = { tokenReview: 'TokenReview', ...WAYS };
const WAY_HINTS: Readonly<Record<string, string>> = {
  tokenReview: 'The API server judges each token, and knows whether its pod is still there.',
  discovery: 'The issuer publishes its keys with a certificate that everybody trusts.',
  ca: 'The issuer publishes its keys with a certificate of an authority of your own.',
  keys: 'The control plane does not reach the issuer.',
};
const PRESET_NAMES = Object.entries({ '': 'none', ...Object.fromEntries(PRESETS.map((name) => [name, name])) });
const PRESET_HINTS: Readonly<Record<string, string>> = {
  '': 'Policies alone decide whom workloads reach.',
  isolated: 'Workloads reach nobody, and nobody reaches them. No policy opens that.',
  sandboxed: 'Workloads are reached by nobody, and reach what you list.',
  inherit: 'Workloads reach everything. Who reaches them is as policies say.',
};

interface FieldsProps {
  readonly of: WorkloadEntries;
}

/** Which workloads a rule lets in. */
export function IdentityFields({ of }: FieldsProps) {
  const place = of.place.value;
  if (place in ISSUERS) return <ClaimsField of={of} />;
  const isCluster = place === KUBERNETES;
  return (
    <>
      <TextField
        label="Issuer"
        hint={
          isCluster
            ? 'As kubectl get --raw /.well-known/openid-configuration prints it.'
            : 'As its tokens have it in iss.'
        }
        type="url"
        value={of.issuer}
        required
      />
      {isCluster ? <ServiceAccount of={of} /> : <ClaimsField of={of} />}
      <Verification of={of} />
    </>
  );
}

function ClaimsField({ of: { place, claims } }: FieldsProps) {
  return (
    <TextField
      label="Claims that have to match"
      fields={['claims']}
      hint={`As claim=pattern, with spaces between, such as ${CLAIMS[place.value]}. * stands for any characters but / and :.`}
      value={claims}
      required
      autocomplete="off"
    />
  );
}

function ServiceAccount({ of: { namespace, serviceAccount } }: FieldsProps) {
  return (
    <>
      <TextField label="Namespace" fields={['claims']} value={namespace} required autocomplete="off" />
      <TextField
        label="Service account"
        hint="Its name. * stands for any characters but / and :."
        value={serviceAccount}
        required
        autocomplete="off"
      />
    </>
  );
}

function Verification({ of: { place, way, tokenReview, ca, keys } }: FieldsProps) {
  const isCluster = place.value === KUBERNETES;
  const source = isCluster ? 'kubectl get --raw /openid/v1/jwks prints' : 'the issuer publishes';
  return (
    <>
      <SelectField
        label="Tokens are verified by"
        hint={WAY_HINTS[way.value] ?? ''}
        value={way}
        options={Object.entries(isCluster ? WAYS_OF_CLUSTERS : WAYS)}
      />
      {way.value === 'tokenReview' && (
        <TextField
          label="Cluster"
          fields={['tokenReview']}
          hint="A name of app.kubernetes in config.yaml of the control plane."
          value={tokenReview}
          required
          autocomplete="off"
        />
      )}
      {way.value === 'ca' && (
        <AreaField
          label="Certificate authority"
          fields={['ca']}
          hint="PEM. It alone vouches for the server that publishes the keys."
          value={ca}
          required
        />
      )}
      {way.value === 'keys' && (
        <AreaField
          label="Public keys"
          fields={['keys']}
          hint={`JSON, as ${source} them. When the issuer changes its keys, the rule has to be changed too.`}
          value={keys}
          required
        />
      )}
    </>
  );
}

/** What a rule gives its workloads, beside the labels and the network of any join token. */
export function GrantFields({ of: { preset, egress, deviceTtl, isAdmitted } }: FieldsProps) {
  return (
    <>
      <SelectField label="Preset" hint={PRESET_HINTS[preset.value] ?? ''} value={preset} options={PRESET_NAMES} />
      {preset.value === 'sandboxed' && (
        <AreaField
          label="May reach"
          fields={['egress']}
          hint="A line each: whom, then ports. role=web TCP 443, or db-1 5432, or * UDP 53."
          value={egress}
        />
      )}
      <TextField
        label="Workloads last"
        fields={['deviceTtl']}
        hint="As 2h or 7d. Empty: until 10 minutes after they went offline."
        value={deviceTtl}
        autocomplete="off"
      />
      {may('peers:approve') && (
        <CheckField
          label="Join without approval"
          fields={['admits']}
          hint="Also where the workspace has devices approved."
          value={isAdmitted}
        />
      )}
    </>
  );
}
