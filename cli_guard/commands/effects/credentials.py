"""The files in which programs keep secrets, by the ends of their paths.

Each place comes from the documentation of its program.
"""

import re

CREDENTIALS = re.compile(
    r"""(?:^|/)(?:
      \.ssh(?:/(?!known_hosts|config\Z|authorized_keys|[^/]+\.pub\Z).*)?\Z
    | \.aws(?:/(?:credentials|sso|cli|\*).*)?\Z | \.azure(?:/.*)?\Z | \.config/gcloud(?:/.*)?\Z
    | \.kube(?:/(?:config|cache|\*).*)?\Z | \.docker/config\.json\Z | \.config/containers/auth\.json\Z
    | \.netrc\Z | _netrc\Z | \.pgpass\Z | \.my\.cnf\Z | \.npmrc\Z | \.pypirc\Z | \.git-credentials\Z
    | \.config/(?:gh/hosts\.yml|git/credentials|hub|op|rclone/rclone\.conf|doctl/.*)\Z | \.gnupg(?:/.*)?\Z
    | \.config/(?:pypoetry/auth\.toml|glab-cli/config\.yml|hcloud/cli\.toml|ngrok/ngrok\.yml|composer/auth\.json)\Z
    | \.config/(?:flyctl|github-copilot|op|anthropic|openai)/.*\Z | \.composer/auth\.json\Z | \.bundle/config\Z
    | \.(?:copilot/config|cursor/auth)\.json\Z | \.local/share/opencode/auth\.json\Z | \.yarnrc\.yml\Z | \.dockercfg\Z
    | \.gradle/gradle\.properties\Z | \.nuget/NuGet/NuGet\.Config\Z | \.fly/config\.yml\Z
    | \.snowflake/connections\.toml\Z
    | (?:\.cache/)?\.?huggingface/token\Z | kubeconfig\Z | \.subversion/auth/.*\Z | \.vault_pass\Z | \.htpasswd\Z
    | client_secret[^/]*\.json\Z | token\.json\Z | [^/]*\.ovpn\Z | \.electrum/wallets/.*\Z | [^/]*private[^/]*\.asc\Z
    | \.config/configstore/.*\Z | \.ngrok2/ngrok\.yml\Z | \.codex/auth\.json\Z | \.claude/\.credentials\.json\Z
    | \.gemini/oauth_creds\.json\Z | \.kaggle/kaggle\.json\Z | \.cloudflared/.*\Z | \.oci/config\Z | \.sentryclirc\Z
    | \.vercel/auth\.json\Z | \.terraformrc\Z | \.local/share/keyrings(?:/.*)?\Z
    | \.gem/credentials\Z | \.cargo/credentials(?:\.toml)?\Z | \.m2/settings(?:-security)?\.xml\Z
    | \.terraform\.d/credentials.*\Z
    | \.vault-token\Z | \.password-store(?:/.*)?\Z | \.boto\Z | \.s3cfg\Z | \.databrickscfg\Z | \.snowsql/config\Z
    | \.(?:bash|zsh|sh|python|psql|mysql|node_repl|rediscli)_history\Z
    | id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?\Z | [^/]*\.(?:p12|pfx|jks|keystore|kdbx|ppk)\Z
    | (?![^/]*(?:cert|chain|\bca\b|pub|bundle))[^/]*\.pem\Z | [^/]*(?<!pub)\.key\Z
    | \.env[*?\[][^/]*\Z
    | \.env(?:\.(?!example\Z|sample\Z|template\Z|dist\Z|test\Z|defaults\Z)[\w.*?-]+)?\Z | \.envrc\Z
    | (?!example|sample|template)[\w*?-]+\.env\Z
    | (?:secrets?|credentials?)(?:\.(?:ya?ml|json|toml|ini|txt|env|conf|cfg|properties|enc))?\Z
    | service[-_]account[^/]*\.json\Z
    | terraform\.tfstate(?:\.backup)?\Z | [^/]*\.tfvars\Z
    | Login\ Data\Z | cookies\.sqlite\Z | logins\.json\Z | key4\.db\Z | Cookies\Z
    | wallet\.dat\Z | [^/]*\.keychain(?:-db)?\Z
    )
    | ^(?:/|(?:\.\./)+)etc/(?:shadow|gshadow|sudoers|master\.passwd|krb5\.keytab|ssl/private)(?:-|/.*)?\Z
    | ^/proc/.+/(?:environ|mem|maps)\Z
    | ^/(?:var/)?run/secrets(?:/.*)?\Z | ^/etc/ssh/ssh_host_\w+_key\Z | ^/etc/wireguard/.*\Z | /system-connections/.*\Z
    | ^/etc/kubernetes/(?:admin\.conf|pki/.*)\Z""",
    re.VERBOSE,
)
