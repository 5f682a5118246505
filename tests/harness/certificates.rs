//! The cluster's certificate authority and what it signs.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// A certificate authority of one cluster.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its private key, both PEM.
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// The private key, PKCS #8.
    pub key: String,
}

impl Authority {
    /// Makes a new authority and writes `ca.crt` and `ca.key` to a directory.
    pub fn create(dir: &Path) -> Result<Self> {
        let key = KeyPair::generate()?;
        let certificate = authority_params().self_signed(&key)?.pem();
        fs::write(dir.join("ca.crt"), &certificate)?;
        fs::write(dir.join("ca.key"), key.serialize_pem())?;
        Ok(Self { certificate, issuer: Issuer::new(authority_params(), key) })
    }

    /// Reads what [`Authority::create`] wrote.
    pub fn open(dir: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = dir.join(name);
            fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
        };
        let key = KeyPair::from_pem(&read("ca.key")?)?;
        Ok(Self { certificate: read("ca.crt")?, issuer: Issuer::new(authority_params(), key) })
    }

    /// The authority's certificate, PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A serving certificate for host names and addresses.
    pub fn server(&self, name: &str, hosts: &[&str]) -> Result<Identity> {
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        self.sign(CertificateParams::new(hosts)?, name, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client certificate: the API server takes the common name as the user's name, the organisation as its group.
    pub fn client(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        let mut params = CertificateParams::default();
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        self.sign(params, user, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(
        &self,
        mut params: CertificateParams,
        name: &str,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Identity> {
        limit_validity(&mut params);
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

impl Identity {
    /// Writes `NAME.crt` and `NAME.key` to a directory.
    pub fn write(&self, dir: &Path, name: &str) -> Result<()> {
        fs::write(dir.join(format!("{name}.crt")), &self.certificate)?;
        fs::write(dir.join(format!("{name}.key")), &self.key)?;
        Ok(())
    }
}

/// Writes a key pair for service account tokens, `service-accounts.key` and `service-accounts.pub`, to a directory.
pub fn write_service_account_key(dir: &Path) -> Result<()> {
    let key = KeyPair::generate()?;
    fs::write(dir.join("service-accounts.key"), key.serialize_pem())?;
    fs::write(dir.join("service-accounts.pub"), key.public_key_pem())?;
    Ok(())
}

/// The authority's own parameters: they are always the same, so that an authority can be opened again from its key.
fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    limit_validity(&mut params);
    params.distinguished_name.push(DnType::CommonName, "pintle-test-cluster");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    params
}

/// Fixed dates: a cluster lives for minutes, and a machine's clock may be off by more than that.
fn limit_validity(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2100, 1, 1);
}
